#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SecurityService {
    /// Returns the SHA-256 of data as 64 lower-case hexadecimal digits.
    ///
    /// - Parameter data: What to hash.
    /// - Returns: The digits.
    public func hash(_ data: Data) -> String {
        Hexadecimal.text(of: SHA256.hash(data: data))
    }

    /// Returns the SHA-256 of data that comes in pieces, without keeping more than one of them.
    ///
    /// - Parameter pieces: The data, a file's bytes for example, in pieces of any size.
    /// - Returns: The digits, those of ``hash(_:)`` for the pieces put together.
    /// - Throws: `streamFailed` with the sequence's error as the cause, and `cancelled`.
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
            throw SecurityError(.cancelled, "hashing was cancelled")
        } catch {
            throw SecurityError(.streamFailed, "the data to hash could not be read", cause: error)
        }
        return hasher.finish()
    }

    /// Whether data has a hash; takes the same time wherever the two differ.
    ///
    /// - Parameters:
    ///   - data: What to hash.
    ///   - hash: Hexadecimal digits, lower or upper case.
    /// - Returns: False also for a text that is no SHA-256.
    public func verifyHash(_ data: Data, hash: String) -> Bool {
        guard let expected = Hexadecimal.bytes(of: hash), expected.count == SHA256.byteCount else {
            return false
        }
        return ConstantTime.isEqual(SHA256.hash(data: data), expected)
    }

    /// Returns the HMAC-SHA-256 of data, which only who has the key can make.
    ///
    /// - Parameters:
    ///   - data: What to authenticate.
    ///   - key: The key, at least 16 bytes long, and best 32 random ones.
    /// - Returns: 32 bytes.
    /// - Throws: `invalidKey` if the key is shorter than 16 bytes.
    public func authenticationCode(
        for data: Data,
        key: Data
    ) throws(SecurityError) -> Data {
        let key = try Self.authenticationKey(key)
        return Data(HMAC<SHA256>.authenticationCode(for: data, using: key))
    }

    /// Whether a code is that of the data and the key; takes the same time wherever they differ.
    ///
    /// - Parameters:
    ///   - code: What ``authenticationCode(for:key:)`` returned.
    ///   - data: What was authenticated.
    ///   - key: The key.
    /// - Returns: False also for a code that was shortened.
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
            throw SecurityError(.invalidKey, "a key for HMAC has at least 16 bytes")
        }
        return SymmetricKey(data: key)
    }
}

/// Hashes data that comes in pieces with SHA-256.
public struct StreamingHasher: Sendable {
    private var state = SHA256()

    /// Begins a hash.
    public init() {}

    /// Adds the next piece.
    ///
    /// - Parameter piece: Bytes, of any number.
    public mutating func update(_ piece: Data) { state.update(data: piece) }

    /// Returns the hash of all pieces so far; more may follow.
    ///
    /// - Returns: 64 lower-case hexadecimal digits.
    public func finish() -> String { Hexadecimal.text(of: state.finalize()) }
}
#endif
