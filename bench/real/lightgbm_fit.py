"""LightGBM on the system's libgomp: explicit num_threads in nearly all regions."""

import lightgbm

from realprog import data, main


def fit():
    x, y, _ = data(40_000, 20)
    settings = {"objective": "regression", "num_leaves": 63, "verbosity": -1, "seed": 1,
                "deterministic": True, "force_row_wise": True}
    model = lightgbm.train(settings, lightgbm.Dataset(x, y), num_boost_round=150)
    guess = model.predict(x)
    return [guess], ((guess - y) ** 2).mean() < 0.2 * y.var()


main("lightgbm_fit", fit)
