#if Crypto
internal import Crypto
internal import KeelCore

/// A key of a keyset, without access to its bytes.
public struct KeysetKey: Sendable, Identifiable {
    /// The status of a key.
    public enum Status: Hashable, Sendable {
        /// The key decrypts, and encrypts if it is the primary key.
        case enabled
        /// The key is not used, and can be enabled again.
        case disabled
        /// The key's bytes are gone, and data that it encrypted can no longer be decrypted.
        case destroyed
    }

    /// The prefix of each ciphertext, which identifies the key.
    public enum Prefix: Hashable, Sendable {
        /// The byte 1 and the key's id.
        case tink
        /// The byte 0 and the key's id, as written by older programs.
        case crunchy
        /// No prefix: a reader tries each such key.
        case raw

        var byte: UInt8? {
            switch self {
            case .tink: 1
            case .crunchy: 0
            case .raw: nil
            }
        }
    }

    /// The number of the key, unique in its keyset.
    public let id: UInt32
    /// The algorithm of the key.
    public let algorithm: KeyAlgorithm
    /// The prefix of the key's ciphertexts.
    public let prefix: Prefix
    /// The status of the key.
    public internal(set) var status: Status
    /// The dates of the key.
    public internal(set) var dates: KeyDates
    /// An upper bound of the messages that the key has encrypted, because rings count ahead.
    public internal(set) var usage: UInt64 = 0

    /// The key itself; nil once destroyed.
    var material: SymmetricKey?
    /// The secret of the keyset's fingerprints, if this key carries it.
    var fingerprint: SymmetricKey?

    var prefixBytes: [UInt8] {
        prefix.byte.map { [$0] + id.bigEndianBytes } ?? []
    }

    mutating func destroy() {
        status = .destroyed
        material = nil
    }
}

extension KeysetKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "key \(id), \(algorithm), \(status)" }
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id, "algorithm": algorithm, "status": status])
    }
}
#endif
