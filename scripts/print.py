"""print.py PAGE PDF: a page as Chromium prints it, by the page's own style; says the PDF's name. Without Chromium it says
that, and makes none.
"""

import base64
import sys
from pathlib import Path

from sm100repo import chromium


def main(path, pdf):
    if not chromium.find():
        print("no Chromium is here to make a PDF of it: print it from a browser")
        return
    with chromium.Page() as page:
        page.open(path, page.PLAIN)
        printed = page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    Path(pdf).write_bytes(base64.b64decode(printed["data"]))
    print(pdf)


if __name__ == "__main__":
    main(*sys.argv[1:])
