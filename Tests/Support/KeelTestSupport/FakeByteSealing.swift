internal import Foundation
internal import KeelCore
internal import Synchronization

/// A test double of `ByteSealing` that keeps all its promises except secrecy.
///
/// Sealed bytes are scrambled, so that a search for plain text in files finds nothing, and modified or moved bytes
/// are refused. The scrambling is not secure.
package final class FakeByteSealing: ByteSealing {
    /// An error for bytes that were not sealed with this key and context.
    package struct Refusal: Error {}

    private let key: UInt64
    private let former: [UInt64]
    private let fingerprintKey: UInt64
    private let nonce = Atomic<UInt64>(1)

    /// Creates a sealing.
    ///
    /// - Parameters:
    ///   - key: The key that seals.
    ///   - former: Keys that only open, as after rotations.
    ///   - first: The key of fingerprints, which rotations do not change; nil for `key`.
    package init(key: UInt64, former: [UInt64] = [], first: UInt64? = nil) {
        self.key = key
        self.former = former
        fingerprintKey = first ?? key
    }

    package func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        let number = nonce.add(1, ordering: .relaxed).newValue
        return Self.bytes(number) + mixed(plain, number, key)
            + Self.bytes(hash(plain + context, number, key))
    }

    package func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        for key in [key] + former {
            if let plain = plain(sealed, context, key) { return plain }
        }
        throw Refusal()
    }

    package func reseal(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]? {
        guard plain(sealed, context, key) == nil else { return nil }
        return try seal(open(sealed, context: context), context: context)
    }

    /// Other keys than those of the sealing count as destroyed.
    package func isLost(_ sealed: [UInt8]) -> Bool { true }

    private func plain(_ sealed: [UInt8], _ context: [UInt8], _ key: UInt64) -> [UInt8]? {
        guard sealed.count >= 16 else { return nil }
        let number = sealed[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        let plain = mixed(Array(sealed[8..<sealed.count - 8]), number, key)
        let check = Self.bytes(hash(plain + context, number, key))
        return check == Array(sealed.suffix(8)) ? plain : nil
    }

    package func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        (0..<4).flatMap { Self.bytes(hash(plain + context, $0, fingerprintKey)) }
    }

    private func mixed(_ bytes: [UInt8], _ number: UInt64, _ key: UInt64) -> [UInt8] {
        var state = key ^ number &* 0x1234_5677
        return bytes.map { byte in
            // SplitMix64 (G. Steele and others, 2014).
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return byte ^ UInt8(truncatingIfNeeded: mixed ^ (mixed >> 31))
        }
    }

    // FNV-1a with a keyed initial value.
    private func hash(_ bytes: [UInt8], _ number: UInt64, _ key: UInt64) -> UInt64 {
        bytes.reduce(key ^ number &* 0x9E37_79B9) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}

/// A sealing that refuses the bytes of one context, such as a document's path, or all bytes while its key is absent.
package final class RefusingByteSealing: ByteSealing {
    private struct State {
        var refused: String?
        var isAbsent = false
    }

    private let base = FakeByteSealing(key: 42)
    private let state = Mutex(State())

    package init() {}

    /// Whether the key is absent, like that of a locked device.
    package var isAbsent: Bool {
        get { state.withLock { $0.isAbsent } }
        set { state.withLock { $0.isAbsent = newValue } }
    }

    /// Refuses to open the bytes of a context; nil refuses none.
    package func refuse(_ context: String?) { state.withLock { $0.refused = context } }

    package func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        try checkPresence()
        return try base.seal(plain, context: context)
    }

    package func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        try checkPresence()
        if let refused = state.withLock({ $0.refused }), Array(refused.utf8) == context {
            throw CocoaError(.fileReadCorruptFile)
        }
        return try base.open(sealed, context: context)
    }

    package func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        try checkPresence()
        return try base.fingerprint(plain, context: context)
    }

    package func isLost(_ sealed: [UInt8]) -> Bool { !isAbsent }

    private func checkPresence() throws {
        if isAbsent { throw CocoaError(.fileReadNoPermission) }
    }
}
