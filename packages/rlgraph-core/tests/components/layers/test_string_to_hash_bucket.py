import hashlib
import subprocess
import sys
import zlib

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import EmbeddingLookup, StringToHashBucket
from rlgraph.core import Component, InputError, SpecError, rlgraph_api
from rlgraph.spaces import Dict, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

TEXTS = {"text_inputs": TextBox(add_batch_rank=True)}


def fast(word, number=1000):
    return zlib.crc32(word.encode()) % number


def strong(word, number=1000, keys=(12345, 67890)):
    key = b"".join(k.to_bytes(8, "little") for k in keys)
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8, key=key).digest(), "little") % number


def test_words(backend):
    test = ComponentTest(StringToHashBucket(), TEXTS, backend=backend)
    numbers, lengths = test.test("call", ["go to the red  door", "stop", ""])
    assert (numbers.dtype, numbers.shape) == (np.int64, (3, 5))
    assert lengths.tolist() == [5, 1, 0]
    assert numbers[0].tolist() == [fast(word) for word in ("go", "to", "the", "red", "door")]
    assert numbers[1].tolist() == [fast("stop"), *[fast("")] * 4]
    assert numbers[2].tolist() == [fast("")] * 5


def test_known_hashes():
    """CRC-32 of "123456789" is the check value of every implementation."""
    test = ComponentTest(StringToHashBucket(num_hash_buckets=2**31 - 1), TEXTS, backend="numpy")
    numbers, _ = test.test("call", ["123456789"])
    assert numbers.item() == 0xCBF43926 % (2**31 - 1)


@pytest.mark.parametrize(
    ("options", "text", "words"),
    [
        ({"delimiter": ","}, "a b,,c", ["a b", "c"]),
        ({"delimiter": ""}, "añ ", ["a", "ñ", " "]),
        ({"delimiter": "--"}, "a--b-c", ["a", "b-c"]),
        ({}, " Tür  auf", ["Tür", "auf"]),
    ],
)
def test_delimiters(options, text, words, backend):
    test = ComponentTest(
        StringToHashBucket(**options, num_hash_buckets=77, dtype="int32", hash_function="strong"),
        TEXTS,
        backend=backend,
    )
    numbers, lengths = test.test("call", np.array([text], object))
    assert (numbers.dtype, lengths.tolist()) == (np.int32, [len(words)])
    assert numbers[0].tolist() == [strong(word, 77) for word in words]


def test_keys():
    layer = StringToHashBucket(hash_function="strong", hash_keys=[1, 2**64 - 1], dtype="int16")
    numbers, _ = ComponentTest(layer, TEXTS, backend="numpy").test("call", ["door"])
    assert (numbers.dtype, numbers.item()) == (np.int16, strong("door", keys=(1, 2**64 - 1)))


def test_no_words_at_all(backend):
    test = ComponentTest(StringToHashBucket(), TEXTS, backend=backend)
    numbers, lengths = test.test("call", ["", "  "])
    assert (numbers.shape, lengths.tolist()) == ((2, 1), [0, 0])
    numbers, lengths = test.test("call", np.empty(0, object))
    assert (numbers.shape, lengths.shape) == ((0, 1), (0,))


@pytest.mark.parametrize("hash_function", ["fast", "strong"])
def test_buckets_are_used_alike(hash_function):
    layer = StringToHashBucket(num_hash_buckets=64, hash_function=hash_function)
    test = ComponentTest(layer, TEXTS, backend="numpy")
    numbers, _ = test.test("call", [f"word{i}" for i in range(6400)])
    assert stats.chisquare(np.bincount(numbers[:, 0], minlength=64)).pvalue > 0.01


@pytest.mark.slow
def test_the_same_in_every_process():
    """Python's own `hash` of a string is not."""
    code = (
        "from rlgraph.components.layers.string_to_hash_bucket import HASH_FUNCTIONS as h;"
        "print([h[name](b'door', b'k') for name in sorted(h)])"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    digest = hashlib.blake2b(b"door", digest_size=8, key=b"k").digest()
    assert said == {f"{[zlib.crc32(b'door'), int.from_bytes(digest, 'little')]}\n"}


class Sentences(Component):
    def __init__(self):
        self.words = StringToHashBucket(num_hash_buckets=10, scope="words")
        self.lookup = EmbeddingLookup(3, 10, scope="lookup")
        super().__init__(self.words, self.lookup, scope="sentences")

    @rlgraph_api
    def call(self, texts):
        numbers, lengths = self.words.call(texts)
        return self.lookup.call(numbers), lengths


def test_with_an_embedding(backend):
    test = ComponentTest(Sentences(), {"texts": TEXTS["text_inputs"]}, backend=backend)
    table = test.read_variable_values("lookup/table")["lookup/table"]
    expected = table[[[fast("up", 10), fast("", 10)], [fast("go", 10), fast("up", 10)]]]
    test.test("call", ["up", "go up"], expected_outputs=(expected, [1, 2]))


def test_containers(backend):
    space = Dict(a=TextBox(), b={"c": TextBox()}, add_batch_rank=True)
    test = ComponentTest(StringToHashBucket(), {"text_inputs": space}, backend=backend)
    numbers, lengths = test.test("call", {"a": ["x y"], "b": {"c": ["x"]}})
    assert (numbers["a"].tolist(), numbers["b"]["c"].tolist()) == ([[fast("x"), fast("y")]], [[fast("x")]])
    assert (lengths["a"].tolist(), lengths["b"]["c"].tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"num_hash_buckets": 0},
            "string-to-hash-bucket.num_hash_buckets: expected an integer >= 1, given 0",
        ),
        ({"hash_function": "fats"}, "unknown hash_function 'fats'. Did you mean 'fast'?"),
        ({"dtype": "float32"}, "string-to-hash-bucket.dtype: unknown dtype 'float32'."),
        (
            {"dtype": "int16", "num_hash_buckets": 40000},
            "expected at most 32768 for dtype 'int16', given 40000",
        ),
        ({"hash_keys": [1]}, "string-to-hash-bucket.hash_keys: expected two integers of at least 0"),
        ({"hash_keys": "ab"}, "string-to-hash-bucket.hash_keys: expected two integers of at least 0"),
        ({"delimiter": None}, "string-to-hash-bucket.delimiter: expected a string, given None"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        StringToHashBucket(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "space", [TextBox(), TextBox(shape=(2,), add_batch_rank=True), IntBox(3, add_batch_rank=True)]
)
def test_wrong_inputs(space):
    with pytest.raises(
        SpaceError, match="string-to-hash-bucket/text_inputs: expected a TextBox without axes"
    ):
        ComponentTest(StringToHashBucket(), {"text_inputs": space}, backend="numpy")


@pytest.mark.parametrize("given", [[1, 2], [["a"]], "door", np.array(["a", None])])
def test_what_is_no_text(given):
    test = ComponentTest(StringToHashBucket(), TEXTS, backend="numpy")
    with pytest.raises(InputError, match=r"call: argument text_inputs: expected str\[B\], given"):
        test.test("call", given) if isinstance(given, str) else test.executor.execute("call", given)
