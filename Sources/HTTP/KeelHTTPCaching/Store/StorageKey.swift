import KeelCore
import KeelHTTP

/// The key of the responses of one address and one user; see the article "KeyFormat".
struct StorageKey: Hashable, Sendable {
    /// The format of keys and entries; entries of another version are not found.
    static let version: UInt8 = 2

    let list: [UInt8]
    let origin: HTTPOrigin
    private let hash: [UInt8]

    /// Creates the key of an address and a user, or nil for responses shared by all users.
    init(_ address: ResourceAddress, partition: String?) {
        origin = address.origin
        hash = Self.hash(of: address)
        let user = partition.map { SecureHash.short("user:=" + $0) } ?? Self.everybody
        list = [Self.version, UInt8(ascii: "l")] + user + hash
    }

    var tag: String { Self.tag(hash) }

    private static let everybody = SecureHash.short("user:")

    private static func hash(of address: ResourceAddress) -> [UInt8] {
        SecureHash.short("address:" + address.text)
    }

    private static func tag(_ hash: [UInt8]) -> String { "a" + Hexadecimal.text(of: hash) }

    static func tag(of address: ResourceAddress) -> String { tag(hash(of: address)) }

    /// Returns the tag of a group, which is limited to its origin (RFC 9875 section 2.1).
    static func tag(of group: String, at origin: HTTPOrigin) -> String {
        "g" + SecureHash.name("group:\(origin) \(group)")
    }

    static func body(_ id: StoredResponse.BodyID) -> [UInt8] {
        var key: [UInt8] = [version, UInt8(ascii: "b")]
        for half in [id.high, id.low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                key.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
            }
        }
        return key
    }
}

/// Hashes for storage keys, which do not reveal the credentials that they are derived from.
extension SecureHash {
    static func short(_ text: String) -> [UInt8] { Array(digest(Array(text.utf8)).prefix(16)) }

    /// Returns the first 16 bytes of the hash as hexadecimal digits.
    static func name(_ text: String) -> String { Hexadecimal.text(of: short(text)) }
}
