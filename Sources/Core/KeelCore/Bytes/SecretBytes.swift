/// Comparison in constant time.
package enum ConstantTime {
    package static func isEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool
    {
        let left = Array(left)
        let right = Array(right)
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}

/// Overwriting of bytes that held a key.
package enum Zeroing {
    /// Fills an array with zeros; copies are not affected.
    @inline(never)
    package static func overwrite(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
