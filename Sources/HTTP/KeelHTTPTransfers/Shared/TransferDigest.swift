#if Crypto
import Crypto
#endif

/// A function that computes a digest of bytes, such as SHA-256.
///
/// Each instance receives the bytes of one file or piece once, in order. `.sha256` needs the trait `Crypto`.
public protocol TransferDigest: Sendable {
    /// Adds bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Returns the digest of all bytes added; called last.
    func finish() -> [UInt8]
}

/// The digest that a file must have.
public struct ExpectedDigest: Sendable {
    /// The expected digest.
    public let value: [UInt8]

    let make: @Sendable () -> any TransferDigest

    /// Creates an expected digest.
    ///
    /// - Parameters:
    ///   - value: The expected digest.
    ///   - make: Creates the digest function in its initial state.
    public init(_ value: [UInt8], by make: @escaping @Sendable () -> any TransferDigest) {
        self.value = value
        self.make = make
    }
}

#if Crypto
extension ExpectedDigest {
    /// Returns an expected SHA-256 digest, of 32 bytes.
    public static func sha256(_ value: [UInt8]) -> ExpectedDigest {
        ExpectedDigest(value) { SHA256Digest() }
    }

    private struct SHA256Digest: TransferDigest {
        private var function = SHA256()

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            function.update(bufferPointer: bytes)
        }

        func finish() -> [UInt8] { Array(function.finalize()) }
    }
}
#endif
