internal import KeelCore

/// The hash of a key in the index: SipHash-2-4 with a key per folder, because an attacker must not be able to construct
/// collisions.
///
/// Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012.
struct SipHash24: Hashable, Sendable {
    let first: UInt64
    let second: UInt64

    func hash(_ bytes: [UInt8]) -> UInt64 {
        var state = State(
            first ^ 0x736F_6D65_7073_6575,
            second ^ 0x646F_7261_6E64_6F6D,
            first ^ 0x6C79_6765_6E65_7261,
            second ^ 0x7465_6462_7974_6573
        )
        return bytes.withUnsafeBytes { bytes in
            var position = 0
            while position &+ 8 <= bytes.count {
                state.take(bytes.word(at: position))
                position &+= 8
            }
            var last = UInt64(truncatingIfNeeded: bytes.count) &<< 56
            for shift in 0..<bytes.count - position {
                last |= UInt64(bytes[position + shift]) &<< UInt64(8 * shift)
            }
            state.take(last)
            return state.finish()
        }
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ v0: UInt64, _ v1: UInt64, _ v2: UInt64, _ v3: UInt64) {
            (self.v0, self.v1, self.v2, self.v3) = (v0, v1, v2, v3)
        }

        mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 = v0 &+ v1
            v1 = rotated(v1, 13) ^ v0
            v0 = rotated(v0, 32)
            v2 = v2 &+ v3
            v3 = rotated(v3, 16) ^ v2
            v0 = v0 &+ v3
            v3 = rotated(v3, 21) ^ v0
            v2 = v2 &+ v1
            v1 = rotated(v1, 17) ^ v2
            v2 = rotated(v2, 32)
        }

        private func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
            (value &<< count) | (value &>> (64 &- count))
        }
    }
}
