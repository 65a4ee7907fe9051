#if Crypto
import Crypto
import KeelHTTPTransfers

/// A digest that an app provides, optionally a wrong one.
struct PlainSHA256: TransferDigest {
    private var function = SHA256()
    private let isWrong: Bool

    init(isWrong: Bool = false) { self.isWrong = isWrong }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { function.update(bufferPointer: bytes) }

    func finish() -> [UInt8] {
        var digest = Array(function.finalize())
        if isWrong { digest[0] ^= 1 }
        return digest
    }
}
#endif
