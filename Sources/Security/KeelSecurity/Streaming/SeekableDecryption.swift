#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Random access to the plaintext of an encrypted stream.
///
/// A read fetches and authenticates only the segments that hold the requested range. Opening checks the last segment,
/// so a truncated stream is refused at that point.
public struct SeekableDecryption: Sendable {
    /// The size of the plaintext in bytes.
    public let count: Int

    private let cipher: SegmentCipher
    private let size: Int
    private let fetch: @Sendable (Range<Int>) throws -> Data

    init(
        _ keys: [KeysetKey],
        size: Int,
        associatedData: Data,
        fetch: @escaping @Sendable (Range<Int>) throws -> Data
    ) throws(SecurityError) {
        let header = try Self.bytes(0..<min(size, 256), fetch)
        for key in keys {
            guard
                let cipher = SegmentCipher(key, header: header, associatedData: associatedData),
                let count = cipher.layout.plainCount(size: size)
            else { continue }
            let index = cipher.layout.segmentCount(size: size) - 1
            let place = cipher.layout.place(of: index, size: size)
            let last = try Self.bytes(place, fetch)
            guard cipher.open(last, index: index, isLast: true) != nil else { continue }
            self.cipher = cipher
            self.size = size
            self.count = count
            self.fetch = fetch
            return
        }
        throw StreamingEncryption.refusal
    }

    /// Returns a range of the plaintext.
    ///
    /// - Parameter range: The range, within `0..<count`.
    /// - Returns: The bytes.
    /// - Throws: `invalidArgument` for a range beyond the end, `streamFailed` if the bytes cannot be fetched, or
    ///   `decryptionFailed` if they were changed.
    public func read(_ range: Range<Int>) throws(SecurityError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= count else {
            throw SecurityError(.invalidArgument, "the range exceeds the \(count) bytes")
        }
        guard !range.isEmpty else { return Data() }
        let layout = cipher.layout
        let first = layout.segment(holding: range.lowerBound)
        let last = layout.segment(holding: range.upperBound - 1)
        var output = Data(capacity: range.count)
        for index in first...last {
            let place = layout.place(of: index, size: size)
            let isLast = index == layout.segmentCount(size: size) - 1
            let sealed = try Self.bytes(place, fetch)
            guard let plain = cipher.open(sealed, index: index, isLast: isLast) else {
                throw StreamingEncryption.refusal
            }
            let begin = layout.plainStart(of: index)
            let wanted = range.clamped(to: begin..<begin + plain.count)
            output.append(
                plain.dropFirst(wanted.lowerBound - begin).prefix(wanted.count)
            )
        }
        return output
    }

    private static func bytes(
        _ range: Range<Int>,
        _ fetch: (Range<Int>) throws -> Data
    ) throws(SecurityError) -> Data {
        let data: Data
        do {
            data = try fetch(range)
        } catch {
            throw SecurityError(.streamFailed, "the stream could not be read", cause: error)
        }
        guard data.count == range.count else {
            throw SecurityError(.streamFailed, "the stream is shorter than its declared size")
        }
        return data
    }
}
#endif
