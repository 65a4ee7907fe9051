/// Lists of keys with newest first, linked by index; each key is in one of them or in none.
struct KeyLists {
    private var previous: ContiguousArray<Int32>
    private var next: ContiguousArray<Int32>
    /// In which list a key is, or -1.
    private var lists: ContiguousArray<Int8>
    /// How many keys each list has.
    private(set) var counts: [Int]
    private let keyCount: Int

    /// - Parameters:
    ///   - listCount: How many lists there are.
    ///   - keyCount: Keys are below this number.
    init(_ listCount: Int, keyCount: Int) {
        // The heads come after the keys.
        let size = keyCount + listCount
        previous = ContiguousArray((0..<Int32(size)))
        next = previous
        lists = ContiguousArray(repeating: -1, count: size)
        counts = Array(repeating: 0, count: listCount)
        self.keyCount = keyCount
    }

    func list(of key: Int) -> Int { Int(lists[key]) }

    func last(of list: Int) -> Int? {
        let last = Int(previous[keyCount + list])
        return last < keyCount ? last : nil
    }

    /// The key that is newer than this one in its list.
    func newer(than key: Int) -> Int? {
        let newer = Int(previous[key])
        return newer < keyCount ? newer : nil
    }

    mutating func remove(_ key: Int) {
        guard lists[key] >= 0 else { return }
        counts[Int(lists[key])] -= 1
        lists[key] = -1
        next[Int(previous[key])] = next[key]
        previous[Int(next[key])] = previous[key]
    }

    /// Puts a key first in a list, wherever it was.
    mutating func move(_ key: Int, to list: Int) {
        remove(key)
        let head = keyCount + list
        let first = next[head]
        (previous[key], next[key]) = (Int32(head), first)
        previous[Int(first)] = Int32(key)
        next[head] = Int32(key)
        lists[key] = Int8(list)
        counts[list] += 1
    }
}
