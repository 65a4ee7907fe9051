#if PostgreSQL
internal import CLibPQ
internal import KeelStorageAdapting

/// The arguments of a statement, in PostgreSQL's binary format.
///
/// Names are `bytea`: they may contain any character, which `text` does not allow.
struct StatementArguments {
    private(set) var types: [Oid] = []
    private var bytes: [UInt8] = []
    /// Nil for `NULL`.
    private var places: [Range<Int>?] = []

    enum Kind {
        static let boolean: Oid = 16
        static let bytes: Oid = 17
        static let integer: Oid = 20
        static let text: Oid = 25
        static let booleans: Oid = 1000
        static let byteArrays: Oid = 1001
        static let integers: Oid = 1016

        static func name(of type: Oid) -> String {
            switch type {
            case boolean: "boolean"
            case bytes: "bytea"
            case integer: "bigint"
            case booleans: "boolean[]"
            case byteArrays: "bytea[]"
            case integers: "bigint[]"
            default: "text"
            }
        }
    }

    init() {}

    var count: Int { types.count }

    /// Returns the bytes of an argument; nil for `NULL`.
    func value(_ place: Int) -> ArraySlice<UInt8>? { places[place].map { bytes[$0] } }

    // MARK: Single values

    mutating func add(_ number: Int64) {
        add(Kind.integer) { ChangePosition.append(number, to: &$0) }
    }

    mutating func add(_ value: [UInt8]) { add(Kind.bytes) { $0 += value } }

    mutating func add(_ value: String.UTF8View) { add(Kind.bytes) { $0 += value } }

    mutating func add(optional number: Int64?) {
        guard let number else {
            types.append(Kind.integer)
            places.append(nil)
            return
        }
        add(number)
    }

    mutating func addNull() {
        types.append(Kind.bytes)
        places.append(nil)
    }

    /// Adds a `text`, for values that Keel itself chooses.
    mutating func add(text: String) { add(Kind.text) { $0 += text.utf8 } }

    // MARK: Arrays

    mutating func add(_ numbers: some Collection<Int64>) {
        add(Kind.integers) { bytes in
            Self.begin(Kind.integer, numbers.count, &bytes)
            for number in numbers {
                Self.append(8, to: &bytes)
                ChangePosition.append(number, to: &bytes)
            }
        }
    }

    mutating func add(_ numbers: some Collection<Int64?>) {
        add(Kind.integers) { bytes in
            Self.begin(Kind.integer, numbers.count, hasNull: true, &bytes)
            for number in numbers {
                Self.append(number == nil ? -1 : 8, to: &bytes)
                if let number { ChangePosition.append(number, to: &bytes) }
            }
        }
    }

    mutating func add(_ values: some Collection<[UInt8]>) {
        add(Kind.byteArrays) { bytes in
            Self.begin(Kind.bytes, values.count, &bytes)
            for value in values {
                Self.append(Int32(value.count), to: &bytes)
                bytes += value
            }
        }
    }

    mutating func add(_ values: some Collection<[UInt8]?>) {
        add(Kind.byteArrays) { bytes in
            Self.begin(Kind.bytes, values.count, hasNull: true, &bytes)
            for value in values {
                Self.append(value.map { Int32($0.count) } ?? -1, to: &bytes)
                if let value { bytes += value }
            }
        }
    }

    mutating func add(names: some Collection<String>) {
        add(Kind.byteArrays) { bytes in
            Self.begin(Kind.bytes, names.count, &bytes)
            for name in names {
                Self.append(Int32(name.utf8.count), to: &bytes)
                bytes += name.utf8
            }
        }
    }

    mutating func add(_ values: some Collection<Bool>) {
        add(Kind.booleans) { bytes in
            Self.begin(Kind.boolean, values.count, &bytes)
            for value in values {
                Self.append(1, to: &bytes)
                bytes.append(value ? 1 : 0)
            }
        }
    }

    // MARK: Passing them on

    func withPointers<Value>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
        ) throws -> Value
    ) rethrows -> Value {
        let lengths = places.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: places.count)
        return try bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = places.map { place in place.flatMap { start?.advanced(by: $0.lowerBound) }
            }
            return try withExtendedLifetime(values) {
                try values.withUnsafeBufferPointer { values in
                    try lengths.withUnsafeBufferPointer { lengths in
                        try formats.withUnsafeBufferPointer { formats in
                            guard let values = values.baseAddress,
                                let lengths = lengths.baseAddress,
                                let formats = formats.baseAddress
                            else { preconditionFailure("arrays have addresses") }
                            return try body(values, lengths, formats)
                        }
                    }
                }
            }
        }
    }

    private mutating func add(_ type: Oid, _ write: (inout [UInt8]) -> Void) {
        // An empty value needs an address too, because a missing one is `NULL`.
        if bytes.isEmpty { bytes.append(0) }
        let start = bytes.count
        write(&bytes)
        types.append(type)
        places.append(start..<bytes.count)
    }

    private static func begin(
        _ type: Oid,
        _ count: Int,
        hasNull: Bool = false,
        _ bytes: inout [UInt8]
    ) {
        append(count == 0 ? 0 : 1, to: &bytes)
        append(hasNull ? 1 : 0, to: &bytes)
        append(Int32(bitPattern: type), to: &bytes)
        guard count > 0 else { return }
        append(Int32(count), to: &bytes)
        append(1, to: &bytes)
    }

    private static func append(_ number: Int32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
#endif
