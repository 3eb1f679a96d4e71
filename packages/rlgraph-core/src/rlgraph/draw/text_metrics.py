"""Text widths from the advance widths of Noto Sans; needs no font file and no dependency."""

from __future__ import annotations

#: The font family of the SVG. Texts carry their length, so another font changes their look but not the layout.
FAMILY = "Noto Sans, Segoe UI, Helvetica, Arial, sans-serif"

# Thousandths of the font size, from the space (32) to the tilde (126).
_REGULAR = (
    "260 269 408 646 572 831 732 225 300 300 551 572 268 322 268 372 572 572 572 572 572 572 572 572 572 572 268 268 "
    "572 572 572 434 899 639 650 632 730 556 519 728 741 339 273 619 524 907 760 781 605 781 622 549 556 731 600 930 "
    "586 566 572 329 372 329 572 444 281 561 615 480 615 564 344 615 618 258 258 534 258 935 618 605 615 615 413 479 "
    "361 618 508 786 529 510 470 380 551 380 572"
)
_BOLD = (
    "260 286 472 646 572 901 750 266 339 339 545 572 285 322 285 413 572 572 572 572 572 572 572 572 572 572 285 285 "
    "572 572 572 477 897 690 672 637 740 560 549 724 765 389 331 664 565 943 813 796 628 796 660 551 579 756 650 967 "
    "667 624 579 331 413 331 572 411 362 604 633 514 633 591 387 633 657 305 305 620 305 982 657 619 633 633 454 497 "
    "434 657 569 856 578 569 488 394 551 394 572"
)
_WIDTHS = {
    bold: {chr(32 + i): int(width) / 1000 for i, width in enumerate(table.split())}
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of `text` in pixels at font size `size`; letters beyond ASCII count as wide."""
    widths = _WIDTHS[bold]
    return size * sum(widths.get(letter, 0.62) for letter in text)
