/// A type that encrypts and authenticates small pieces of data.
///
/// It is what an area asks for when it keeps data at rest, so that no area has to know a cipher.
/// All calls are synchronous, because a log call cannot wait. A conforming type promises that
///
/// - ``open(_:context:)`` returns what was sealed with the same context, and throws for anything
///   else: another context, another key, a changed byte;
/// - ``seal(_:context:)`` of the same bytes gives different output each time;
/// - ``fingerprint(_:context:)`` of the same bytes and context gives the same 32 bytes each time,
///   and cannot be computed or reversed without the key.
///
/// The context (also called associated data) is authenticated and not stored: give it the place
/// where the sealed bytes belong, so that nobody can move them to another place.
public protocol ByteSealing: Sendable {
    /// Returns the encrypted and authenticated form of `plain`.
    func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8]

    /// Returns what was sealed, after checking that nobody changed or moved it.
    func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]

    /// Returns a keyed hash of `plain`, 32 bytes long, for lookups by equality.
    func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8]
}
