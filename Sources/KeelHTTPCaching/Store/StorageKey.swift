import KeelCore
import KeelHTTP

/// What the responses of one address and one user are kept under.
///
/// The article "KeyFormat" says why it has this form.
struct StorageKey: Hashable, Sendable {
    /// The form of keys and entries; another one does not find what this one wrote.
    static let version: UInt8 = 2

    /// Where the list of the address's responses is.
    let list: [UInt8]
    /// Removes all responses of the address, of all users.
    let tag: String
    /// Whom the address belongs to.
    let origin: HTTPOrigin

    /// Creates the key of an address.
    ///
    /// - Parameters:
    ///   - address: What was asked for.
    ///   - partition: Whose responses they are; nil for everybody's.
    init(_ address: ResourceAddress, partition: String?) {
        origin = address.origin
        tag = Self.tag(of: address)
        list =
            [Self.version, UInt8(ascii: "l")]
            + SecureHash.short("user:" + (partition.map { "=" + $0 } ?? ""))
            + SecureHash.short("address:" + address.text)
    }

    /// The tag of an address.
    static func tag(of address: ResourceAddress) -> String {
        "a" + SecureHash.name("address:" + address.text)
    }

    /// The tag of a group of an origin (RFC 9875 section 2.1: groups do not reach further).
    static func tag(of group: String, at origin: HTTPOrigin) -> String {
        "g" + SecureHash.name("group:\(origin) \(group)")
    }

    /// Where a body is.
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
