import KeelCore

/// Keys that outlive the process.
///
/// Keys name addresses and users. They must be the same after a restart, of one length, and say
/// nothing about the credentials that they are made of.
extension SecureHash {
    /// Returns the first 16 of the 32 bytes of the hash.
    static func short(_ text: String) -> [UInt8] { Array(digest(Array(text.utf8)).prefix(16)) }

    /// Returns the first half of the hash as hexadecimal digits.
    static func name(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = short(text).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
