#if Crypto
internal import Crypto

/// One key of a keyset, without a way to see its bytes.
public struct KeysetKey: Sendable, Identifiable {
    /// What may be done with a key.
    public enum Status: Hashable, Sendable {
        /// It decrypts, and encrypts if it is the primary key.
        case enabled
        /// It does nothing, and can be enabled again.
        case disabled
        /// Its bytes are gone, and what it encrypted cannot be read any more.
        case destroyed
    }

    /// What stands before each result, so that a reader finds the key.
    public enum Prefix: Hashable, Sendable {
        /// The byte 1 and the key's id.
        case tink
        /// The byte 0 and the key's id, of older programs.
        case crunchy
        /// Nothing: a reader tries each such key.
        case raw

        /// What stands before the key's id.
        var byte: UInt8? {
            switch self {
            case .tink: 1
            case .crunchy: 0
            case .raw: nil
            }
        }
    }

    /// The key's number, which no other key of its keyset has.
    public let id: UInt32
    /// What the key is for.
    public let algorithm: KeyAlgorithm
    /// What stands before its results.
    public let prefix: Prefix
    /// What may be done with it.
    public internal(set) var status: Status
    /// Its dates.
    public internal(set) var dates: KeyDates
    /// How many messages it may have encrypted at most: rings that use it count ahead.
    public internal(set) var usage: UInt64 = 0

    /// The key itself; nil once destroyed.
    var material: SymmetricKey?
    /// The secret of the keyset's fingerprints, if this key carries it.
    var fingerprint: SymmetricKey?

    /// The bytes before each result.
    var prefixBytes: [UInt8] {
        prefix.byte.map { kind in
            [kind] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> UInt32($0)) }
        } ?? []
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
