/// Overwriting of bytes that held a key.
package enum Wiping {
    /// Fills an array with zeros, as far as no copy was made of it.
    @inline(never)
    package static func overwrite(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
