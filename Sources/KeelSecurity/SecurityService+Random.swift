#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SecurityService {
    /// Returns bytes from the system's generator that nobody can foresee.
    ///
    /// - Parameter count: How many, zero or more.
    /// - Returns: The bytes.
    /// - Throws: `invalidArgument` for a negative count, `randomGenerationFailed`.
    public func generateSecureRandomBytes(count: Int) throws(SecurityError) -> Data {
        guard count >= 0, count <= Int.max / 8 else {
            throw SecurityError(.invalidArgument, "a count of random bytes is zero or more")
        }
        guard count > 0 else { return Data() }
        // The generator of the cryptography library fills whole buffers; the one of the standard
        // library asks the system for each eight bytes.
        let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: count * 8))
            .withUnsafeBytes { Data($0) }
        guard bytes.count == count else {
            throw SecurityError(.randomGenerationFailed, "the system gave too few random bytes")
        }
        return bytes
    }

    /// Returns a random text for links, cookies and sessions: letters, digits, `-` and `_`.
    ///
    /// - Parameter byteCount: How many random bytes it stands for, at least 16.
    /// - Returns: Four characters for each three bytes, 43 for the usual 32, without padding.
    /// - Throws: `invalidArgument` for fewer than 16 bytes, `randomGenerationFailed`.
    public func generateToken(byteCount: Int = 32) throws(SecurityError) -> String {
        guard byteCount >= 16 else {
            throw SecurityError(.invalidArgument, "a token of fewer than 16 bytes can be guessed")
        }
        let text = try generateSecureRandomBytes(count: byteCount).base64EncodedString()
        return String(
            text.compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            }
        )
    }
}
#endif
