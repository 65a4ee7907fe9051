import KeelCore

/// Hashes for storage keys.
///
/// Keys name addresses and users. They are stable across restarts, have a fixed length, and do not
/// reveal the credentials they are derived from.
extension SecureHash {
    /// Returns the first 16 of the 32 bytes of the hash.
    static func short(_ text: String) -> [UInt8] { Array(digest(Array(text.utf8)).prefix(16)) }

    /// Returns the first 16 bytes of the hash as hexadecimal digits.
    static func name(_ text: String) -> String { Hexadecimal.text(of: short(text)) }
}
