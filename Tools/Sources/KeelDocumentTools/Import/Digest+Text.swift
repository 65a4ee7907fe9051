internal import Crypto

extension Digest {
    /// Returns the first bytes in hexadecimal.
    func hexadecimal(bytes count: Int = Self.byteCount) -> String {
        prefix(count).reduce(into: "") { text, byte in
            let digits = String(byte, radix: 16)
            text += digits.count == 1 ? "0\(digits)" : digits
        }
    }
}
