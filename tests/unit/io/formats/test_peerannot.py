"""What is no file of peerannot's answers."""

import json
from pathlib import Path

from assay.io.files.opening import open_source
from assay.io.formats import all_formats


def test_records_of_the_same_fields_are_no_answers_by_worker(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    path.write_text(json.dumps({str(n): {"name": f"p{n}", "age": str(n)} for n in range(9)}))
    claims = [name for name, one in all_formats().items() if one.detect(open_source(path))]
    assert claims == []
