#if Crypto
/// The positions of the segments in an encrypted stream, in Tink's AES-GCM-HKDF format.
///
/// The stream begins with a header: its length, a salt as long as the derived key, and seven bytes of the nonces. The
/// first segment is shorter by the header, so segments begin at multiples of the segment size.
struct SegmentLayout: Hashable, Sendable {
    static let tagCount = 16
    static let noncePrefixCount = 7

    /// The size of an encrypted segment, including its tag.
    let segment: Int
    let saltCount: Int

    init?(_ algorithm: KeyAlgorithm) {
        guard case .streaming(let segment, let derivedKey) = algorithm.cipher else { return nil }
        self.segment = segment
        saltCount = derivedKey
    }

    var headerCount: Int { 1 + saltCount + Self.noncePrefixCount }

    /// The plaintext capacity of a segment.
    var plainSegment: Int { segment - Self.tagCount }

    func plainCount(of index: Int) -> Int {
        index == 0 ? plainSegment - headerCount : plainSegment
    }

    func plainStart(of index: Int) -> Int {
        index == 0 ? 0 : index * plainSegment - headerCount
    }

    func segment(holding position: Int) -> Int { (position + headerCount) / plainSegment }

    func segmentCount(size: Int) -> Int { max(1, (size + segment - 1) / segment) }

    func place(of index: Int, size: Int) -> Range<Int> {
        let start = index * segment + (index == 0 ? headerCount : 0)
        return start..<max(start, min((index + 1) * segment, size))
    }

    func encryptedCount(of count: Int) -> Int {
        let inLater = max(0, count - plainCount(of: 0))
        let segments = 1 + (inLater + plainSegment - 1) / plainSegment
        return headerCount + count + segments * Self.tagCount
    }

    /// Returns the plaintext size of an encrypted stream of `size` bytes, or nil if no stream has this size.
    func plainCount(size: Int) -> Int? {
        let count = segmentCount(size: size)
        let last = size - (count - 1) * segment - (count == 1 ? headerCount : 0)
        guard last >= Self.tagCount else { return nil }
        return size - headerCount - count * Self.tagCount
    }
}
#endif
