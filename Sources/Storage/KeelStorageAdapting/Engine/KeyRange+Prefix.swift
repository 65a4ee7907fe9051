package import KeelDocuments

extension KeyRange {
    /// Returns the range with the first `length` bytes of its keys replaced.
    package func replacingPrefix(
        of length: Int,
        by replacement: ([UInt8]) throws -> [UInt8]
    ) throws -> KeyRange {
        guard let bytes = (lower ?? upper)?.bytes, bytes.count >= length else { return self }
        let prefix = try replacement(Array(bytes.prefix(length)))
        func replaced(_ cut: Cut?) -> Cut? {
            cut.map { cut in
                let bytes = prefix + cut.bytes.dropFirst(length)
                return cut.isAfter ? .after(bytes) : .before(bytes)
            }
        }
        return KeyRange(from: replaced(lower), to: replaced(upper))
    }
}
