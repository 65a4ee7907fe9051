#if Crypto
import Crypto
#endif

/// A function that makes a digest of bytes, such as SHA-256.
///
/// A transfer feeds it every byte once, in order. `.sha256` stands ready where the trait `Crypto`
/// is on; any other function is a type of a few lines.
public protocol TransferDigest: Sendable {
    /// Takes bytes in.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Returns the digest of all bytes so far; nothing is taken in after that.
    func finish() -> [UInt8]
}

/// The digest that a file must have.
public struct ExpectedDigest: Sendable {
    /// What the digest of the file has to be.
    public let value: [UInt8]

    let make: @Sendable () -> any TransferDigest

    /// Creates an expectation.
    ///
    /// - Parameters:
    ///   - value: What the digest of the file has to be.
    ///   - make: Makes the function at its start.
    public init(_ value: [UInt8], by make: @escaping @Sendable () -> any TransferDigest) {
        self.value = value
        self.make = make
    }
}

#if Crypto
extension ExpectedDigest {
    /// Expects this SHA-256 digest, of 32 bytes.
    public static func sha256(_ value: [UInt8]) -> ExpectedDigest {
        ExpectedDigest(value) { SHA256Digest() }
    }

    /// SHA-256 as the protocol wants it.
    private struct SHA256Digest: TransferDigest {
        private var function = SHA256()

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            function.update(bufferPointer: bytes)
        }

        func finish() -> [UInt8] { Array(function.finalize()) }
    }
}
#endif
