/// The requested keys in order, numbered from 0 in the order of their first appearance.
public struct Trace: Sendable {
    /// The name in tables.
    public let name: String
    /// The key's number for each request.
    public private(set) var keys: ContiguousArray<Int32> = []
    /// The number of distinct keys.
    public var keyCount: Int { numbers.count }
    private var numbers: [UInt64: Int32] = [:]

    /// Creates a trace without requests.
    public init(name: String) { self.name = name }

    /// Adds a request.
    public mutating func append(_ key: UInt64) {
        let new = Int32(numbers.count)
        let number = numbers[key] ?? new
        if number == new { numbers[key] = new }
        keys.append(number)
    }

    /// The index of the next request for the same key, for each request; `Int32.max` if there is none.
    public var nextUses: ContiguousArray<Int32> {
        var next = ContiguousArray(repeating: Int32.max, count: keys.count)
        var last = ContiguousArray(repeating: Int32.max, count: keyCount)
        for place in keys.indices.reversed() {
            next[place] = last[Int(keys[place])]
            last[Int(keys[place])] = Int32(place)
        }
        return next
    }
}
