/// The keys that were asked for, in order, numbered from 0 as they first appear.
public struct Trace: Sendable {
    /// What the trace is called in tables.
    public let name: String
    /// The number of the key of each request.
    public private(set) var keys: ContiguousArray<Int32> = []
    /// How many distinct keys there are.
    public var keyCount: Int { numbers.count }
    private var numbers: [UInt64: Int32] = [:]

    /// Creates a trace without requests.
    ///
    /// - Parameter name: What it is called in tables.
    public init(name: String) { self.name = name }

    /// Adds a request.
    public mutating func append(_ key: UInt64) {
        let new = Int32(numbers.count)
        let number = numbers[key] ?? new
        if number == new { numbers[key] = new }
        keys.append(number)
    }

    /// For each request the place of the next one of the same key, or `Int32.max`.
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
