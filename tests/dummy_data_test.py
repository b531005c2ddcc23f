import numpy as np
from PIL import Image
from support import make_dummy_data
from support.paths import DUMMY_DATA


def test_the_script_draws_the_committed_files(tmp_path):
    make_dummy_data.write(tmp_path)
    drawn = {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
    assert drawn == {p.relative_to(DUMMY_DATA) for p in DUMMY_DATA.rglob("*") if p.is_file()}
    for name in drawn:
        if name.suffix in (".txt", ".xml"):
            assert (tmp_path / name).read_bytes() == (DUMMY_DATA / name).read_bytes()
        else:  # compressed bytes differ from one library version to the next, pixels hardly
            new, old = (
                np.asarray(Image.open(f / name)).astype(int) for f in (tmp_path, DUMMY_DATA)
            )
            assert abs(new - old).max() <= (0 if name.suffix == ".png" else 3)
