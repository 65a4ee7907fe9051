#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SecurityService {
    /// Returns random bytes from the system's generator.
    ///
    /// - Parameter count: The number of bytes, zero or more.
    /// - Returns: The bytes.
    /// - Throws: `invalidArgument` for a negative count, or `randomGenerationFailed`.
    public func generateSecureRandomBytes(count: Int) throws(SecurityError) -> Data {
        guard count >= 0, count <= Int.max / 8 else {
            throw SecurityError(.invalidArgument, "the number of random bytes must not be negative")
        }
        guard count > 0 else { return Data() }
        // The cryptography library fills whole buffers; the standard library's generator asks the system for each eight
        // bytes.
        let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: count * 8))
            .withUnsafeBytes { Data($0) }
        guard bytes.count == count else {
            throw SecurityError(.randomGenerationFailed, "the system returned too few random bytes")
        }
        return bytes
    }

    /// Returns a random token for links, cookies and sessions: letters, digits, `-` and `_`.
    ///
    /// - Parameter byteCount: The number of random bytes in the token, at least 16.
    /// - Returns: Four characters per three bytes (43 for the default of 32), without padding.
    /// - Throws: `invalidArgument` for fewer than 16 bytes, or `randomGenerationFailed`.
    public func generateToken(byteCount: Int = 32) throws(SecurityError) -> String {
        guard byteCount >= 16 else {
            throw SecurityError(
                .invalidArgument,
                "a token must have at least 16 bytes, or it can be guessed"
            )
        }
        return Base64.encodeForURL(Array(try generateSecureRandomBytes(count: byteCount)))
    }
}
#endif
