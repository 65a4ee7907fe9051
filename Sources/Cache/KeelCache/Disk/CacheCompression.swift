/// A compression method for values on disk; KeelCache includes none.
///
/// The method's identifier is stored with each value, so a folder can hold values of several methods. A compressed
/// value of another method is a miss, and counts as damaged.
///
/// ```swift
/// configuration.compression = CacheCompression(identifier: 1) { try? deflated($0) } expand: {
///     try inflated($0, upTo: $1)
/// }
/// ```
public struct CacheCompression: Sendable {
    /// The identifier of the method in the files: 1 or more, never reused for another method.
    public let identifier: UInt8
    private let compressing: @Sendable ([UInt8]) -> [UInt8]?
    private let expanding: @Sendable ([UInt8], Int) throws -> [UInt8]

    /// Creates a method.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the method in the files; 0 counts as 1.
    ///   - compress: Returns the compressed value, or nil if compressing it is not worthwhile.
    ///   - expand: Returns the value of compressed bytes, given its length, and must not produce more bytes. A value is
    ///     damaged if this throws or returns another length.
    public init(
        identifier: UInt8,
        compress: @escaping @Sendable ([UInt8]) -> [UInt8]?,
        expand: @escaping @Sendable ([UInt8], Int) throws -> [UInt8]
    ) {
        self.identifier = max(1, identifier)
        compressing = compress
        expanding = expand
    }

    func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard let small = compressing(bytes), small.count < bytes.count else { return nil }
        return small
    }

    func expanded(_ bytes: [UInt8], byteCount: Int) -> [UInt8]? {
        guard let value = try? expanding(bytes, byteCount), value.count == byteCount else {
            return nil
        }
        return value
    }
}
