/// The part of a tier that belongs to one cache.
struct CacheLower<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let queue: TierQueue
    let coding: CacheCoding<Key, Value>
    /// What the bytes of all keys begin with.
    let space: [UInt8]
    /// What all entries can be removed by.
    let spaceTag: String

    init(queue: TierQueue, name: String, coding: CacheCoding<Key, Value>) {
        self.queue = queue
        self.coding = coding
        // No name and format may run into the key, or into another name and format.
        let words = [Array(name.utf8), Array(coding.format.utf8)]
        space = words.flatMap { word -> [UInt8] in
            let length = UInt32(truncatingIfNeeded: word.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + word
        }
        spaceTag = "\u{0}\(name)\u{0}\(coding.format)"
    }

    /// The tags that a cache gave to an entry.
    func tags(of record: CacheRecord) -> [String] { record.tags.filter { $0 != spaceTag } }
}
