// qulacs: gates on a state of many qubits.
#include "numbers.h"
#include "csim/memory_ops.hpp"
#include "csim/init_ops.hpp"
#include "csim/stat_ops.hpp"
#include "csim/update_ops.hpp"

int main() {
    const UINT qubits = 17;
    const ITYPE size = 1ULL << qubits;
    CTYPE *state = allocate_quantum_state(size);
    initialize_quantum_state(state, size);
    for (int round = 0; round < 6; round++) {
        for (UINT at = 0; at < qubits; at++) H_gate(at, state, size);
        for (UINT at = 0; at < qubits; at++) RX_gate(at, 0.1 + 0.01 * at + round, state, size);
        for (UINT at = 0; at + 1 < qubits; at++) CNOT_gate(at, at + 1, state, size);
    }
    show((const double *)state, 2 * size);
    double norm = state_norm_squared(state, size);
    show(&norm, 1);
    release_quantum_state(state);
}
