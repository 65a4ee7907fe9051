/// A way to make values smaller on disk; KeelCache brings none of its own.
///
/// The number is kept with each value, so that a folder may hold values of several ways: what was
/// written with another number, or without, is still told apart. A value whose number is not the
/// configured one is a miss.
///
/// ```swift
/// configuration.compression = CacheCompression(number: 1) { try? deflated($0) } expand: {
///     try inflated($0, upTo: $1)
/// }
/// ```
public struct CacheCompression: Sendable {
    /// What stands for this way in the files; 1 or more, and never given to another way later.
    public let number: UInt8
    private let compressing: @Sendable ([UInt8]) -> [UInt8]?
    private let expanding: @Sendable ([UInt8], Int) throws -> [UInt8]

    /// Creates a way.
    ///
    /// - Parameters:
    ///   - number: What stands for it in the files; 0 is taken as 1.
    ///   - compress: Returns the smaller form of a value, nil where it is not worth it.
    ///   - expand: Returns the value of a smaller form, given the value's length. It must not make
    ///     more bytes than that; what throws or has another length is treated as damaged.
    public init(
        number: UInt8,
        compress: @escaping @Sendable ([UInt8]) -> [UInt8]?,
        expand: @escaping @Sendable ([UInt8], Int) throws -> [UInt8]
    ) {
        self.number = max(1, number)
        compressing = compress
        expanding = expand
    }

    /// The smaller form, nil when it would not be smaller.
    func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard let small = compressing(bytes), small.count < bytes.count else { return nil }
        return small
    }

    /// The value, nil when the smaller form is damaged.
    func expanded(_ bytes: [UInt8], byteCount: Int) -> [UInt8]? {
        guard let value = try? expanding(bytes, byteCount), value.count == byteCount else {
            return nil
        }
        return value
    }
}
