/// The part of a tier that belongs to one cache.
struct CacheLower<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let queue: TierQueue
    let coding: CacheCoding<Key, Value>
    /// The prefix of the bytes of all keys.
    let space: [UInt8]
    /// The tag of all entries of the cache, for removing them together.
    let spaceTag: String

    init(queue: TierQueue, name: String, coding: CacheCoding<Key, Value>) {
        self.queue = queue
        self.coding = coding
        // Lengths keep a name or format from running into the key or into another name.
        let words = [Array(name.utf8), Array(coding.format.utf8)]
        space = words.flatMap { word -> [UInt8] in
            let length = UInt32(truncatingIfNeeded: word.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + word
        }
        spaceTag = "\u{0}\(name)\u{0}\(coding.format)"
    }

    func tags(of record: CacheRecord) -> [String] { record.tags.filter { $0 != spaceTag } }
}
