import HTTPTypes

/// A request for a single range of bytes (RFC 9110 section 14.1.2).
enum ByteRange: Hashable, Sendable {
    /// From one byte to another, both included.
    case bounded(Int64, Int64)
    case from(Int64)
    case suffix(Int64)

    /// Reads a `Range` field; nil for several ranges, another unit or a malformed field.
    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        let specification = FieldList.trimmed(String(text.dropFirst(6)))
        let parts = specification.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let first = DeltaSeconds(String(parts[0])).valid
        let last = DeltaSeconds(String(parts[1])).valid
        switch (first, last) {
        case (let first?, let last?) where first <= last: self = .bounded(first, last)
        case (let first?, nil) where parts[1].isEmpty: self = .from(first)
        case (nil, let count?) where parts[0].isEmpty && count > 0: self = .suffix(count)
        default: return nil
        }
    }

    func positions(total: Int64?) -> ClosedRange<Int64>? {
        switch self {
        case .bounded(let first, let last):
            guard let total else { return first...last }
            return first < total ? first...min(last, total - 1) : nil
        case .from(let first):
            guard let total, first < total else { return nil }
            return first...(total - 1)
        case .suffix(let count):
            guard let total, total > 0 else { return nil }
            return max(0, total - count)...(total - 1)
        }
    }
}

extension StoredResponse {
    /// The stored bytes of a range, and the `Content-Range` of a response with them.
    struct Slice: Hashable, Sendable {
        var offset: Int
        var count: Int
        var contentRange: String
    }

    func slice(_ range: ByteRange) -> Slice? {
        guard status.code == 200 || part != nil else { return nil }
        let total = part == nil ? Int64(length) : part?.total
        let first = part?.first ?? 0
        guard let wanted = range.positions(total: total),
            wanted.lowerBound >= first, wanted.upperBound < first + Int64(length)
        else { return nil }
        return Slice(
            offset: Int(wanted.lowerBound - first),
            count: wanted.count,
            contentRange:
                "bytes \(wanted.lowerBound)-\(wanted.upperBound)/\(total.map(String.init) ?? "*")"
        )
    }
}
