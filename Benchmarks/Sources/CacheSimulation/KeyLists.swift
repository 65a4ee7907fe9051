/// Lists of keys, newest first, linked by index; each key is in at most one list.
struct KeyLists {
    private var previous: ContiguousArray<Int32>
    private var next: ContiguousArray<Int32>
    /// The list of each key, or -1.
    private var lists: ContiguousArray<Int8>
    /// The number of keys in each list.
    private(set) var counts: [Int]
    private let keyCount: Int

    /// - Parameters:
    ///   - listCount: The number of lists.
    ///   - keyCount: The number of keys; each key is less than this.
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

    /// Returns the next newer key in the list of this one.
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

    /// Moves a key to the front of a list, from any list or none.
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
