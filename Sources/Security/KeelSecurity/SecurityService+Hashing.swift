#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SecurityService {
    /// Returns the SHA-256 of the data as 64 lowercase hexadecimal digits.
    public func hash(_ data: Data) -> String {
        Hexadecimal.text(of: SHA256.hash(data: data))
    }

    /// Returns the SHA-256 of data that arrives in pieces of any size, as from ``hash(_:)``.
    ///
    /// - Throws: `streamFailed` with the sequence's error as the cause, or `cancelled`.
    @concurrent
    public func hash<Pieces: AsyncSequence & Sendable>(
        contentsOf pieces: Pieces
    ) async throws(SecurityError) -> String where Pieces.Element == Data {
        var hasher = StreamingHasher()
        do {
            for try await piece in pieces {
                try Task.checkCancellation()
                hasher.update(piece)
            }
        } catch is CancellationError {
            throw SecurityError(.cancelled, "hashing was canceled")
        } catch {
            throw SecurityError(.streamFailed, "the data to hash could not be read", cause: error)
        }
        return hasher.finish()
    }

    /// Returns whether the data has the given hash, comparing in constant time.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - hash: Hexadecimal digits, lowercase or uppercase.
    /// - Returns: False if the hashes differ or `hash` is not a SHA-256.
    public func verifyHash(_ data: Data, hash: String) -> Bool {
        guard let expected = Hexadecimal.bytes(of: hash), expected.count == SHA256.byteCount else {
            return false
        }
        return ConstantTime.isEqual(SHA256.hash(data: data), expected)
    }

    /// Returns the HMAC-SHA-256 of the data.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - key: The key, at least 16 bytes long; use 32 random bytes.
    /// - Returns: 32 bytes.
    /// - Throws: `invalidKey` if the key is shorter than 16 bytes.
    public func authenticationCode(
        for data: Data,
        key: Data
    ) throws(SecurityError) -> Data {
        let key = try Self.authenticationKey(key)
        return Data(HMAC<SHA256>.authenticationCode(for: data, using: key))
    }

    /// Returns whether an authentication code matches the data and the key, comparing in constant time.
    ///
    /// - Parameters:
    ///   - code: The result of ``authenticationCode(for:key:)``.
    ///   - data: The authenticated data.
    ///   - key: The key.
    /// - Returns: False if the codes differ.
    /// - Throws: `invalidKey` if the key is shorter than 16 bytes.
    public func isValidAuthenticationCode(
        _ code: Data,
        for data: Data,
        key: Data
    ) throws(SecurityError) -> Bool {
        let key = try Self.authenticationKey(key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: data, using: key)
    }

    private static func authenticationKey(_ key: Data) throws(SecurityError) -> SymmetricKey {
        guard key.count >= 16 else {
            throw SecurityError(.invalidKey, "an HMAC key must have at least 16 bytes")
        }
        return SymmetricKey(data: key)
    }
}

/// A SHA-256 of data that arrives in pieces.
public struct StreamingHasher: Sendable {
    private var state = SHA256()

    /// Begins a hash.
    public init() {}

    /// Adds the next piece, of any size.
    public mutating func update(_ piece: Data) { state.update(data: piece) }

    /// Returns the hash of all pieces so far as 64 lowercase hexadecimal digits; more pieces may follow.
    public func finish() -> String { Hexadecimal.text(of: state.finalize()) }
}
#endif
