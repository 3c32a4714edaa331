"""XGBoost on its own bundled libgomp: explicit num_threads, and it counts on getting them."""

import xgboost

from realprog import data, main


def fit():
    x, _, wanted = data(40_000, 20)
    settings = {"objective": "binary:logistic", "max_depth": 6, "seed": 1, "tree_method": "hist",
                "verbosity": 0}
    matrix = xgboost.DMatrix(x, wanted)
    model = xgboost.train(settings, matrix, num_boost_round=150)
    guess = model.predict(matrix)
    return [guess], ((guess > 0.5) == wanted).mean() > 0.9


main("xgboost_fit", fit)
