#if Crypto
/// Where the segments of an encrypted stream are, in Tink's AES-GCM-HKDF format.
///
/// The stream begins with a header: its length, a salt as long as the derived key, and seven bytes
/// of the nonces. The first segment is shorter by the header, so that segments of the encrypted
/// stream begin at multiples of their size.
struct SegmentLayout: Hashable, Sendable {
    static let tagCount = 16
    static let noncePrefixCount = 7

    /// The size of an encrypted segment, its tag included.
    let segment: Int
    let saltCount: Int

    init?(_ algorithm: KeyAlgorithm) {
        guard case .streaming(let segment, let derivedKey) = algorithm.cipher else { return nil }
        self.segment = segment
        saltCount = derivedKey
    }

    var headerCount: Int { 1 + saltCount + Self.noncePrefixCount }

    /// How much a segment holds.
    var plainSegment: Int { segment - Self.tagCount }

    /// How much segment number `index` holds, unless it is the last.
    func plainCount(of index: Int) -> Int {
        index == 0 ? plainSegment - headerCount : plainSegment
    }

    /// Where in the plain bytes a segment begins.
    func plainStart(of index: Int) -> Int {
        index == 0 ? 0 : index * plainSegment - headerCount
    }

    /// The segment that holds a plain byte.
    func segment(holding position: Int) -> Int { (position + headerCount) / plainSegment }

    /// How many segments an encrypted stream of `size` bytes has.
    func segmentCount(size: Int) -> Int { max(1, (size + segment - 1) / segment) }

    /// Where in an encrypted stream of `size` bytes a segment is.
    func place(of index: Int, size: Int) -> Range<Int> {
        let start = index * segment + (index == 0 ? headerCount : 0)
        return start..<max(start, min((index + 1) * segment, size))
    }

    /// How many bytes the encrypted stream of `count` plain bytes has.
    func encryptedCount(of count: Int) -> Int {
        let inLater = max(0, count - plainCount(of: 0))
        let segments = 1 + (inLater + plainSegment - 1) / plainSegment
        return headerCount + count + segments * Self.tagCount
    }

    /// How many plain bytes it has; nil if no stream has this size.
    func plainCount(size: Int) -> Int? {
        let count = segmentCount(size: size)
        let last = size - (count - 1) * segment - (count == 1 ? headerCount : 0)
        guard last >= Self.tagCount else { return nil }
        return size - headerCount - count * Self.tagCount
    }
}
#endif
