/// Overwriting of bytes that held a key.
package enum Zeroing {
    /// Fills an array with zeros; copies are not affected.
    @inline(never)
    package static func overwrite(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
