#if PostgreSQL
internal import CLibPQ

/// The rows that a statement returned, in PostgreSQL's binary format.
final class DatabaseRows {
    private let result: OpaquePointer
    let count: Int

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that the statement inserted, changed or removed.
    var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    subscript(row: Int) -> DatabaseRow { DatabaseRow(rows: self, number: Int32(row)) }

    var first: DatabaseRow? { count > 0 ? self[0] : nil }

    fileprivate func isNull(_ row: Int32, _ column: Int32) -> Bool {
        PQgetisnull(result, row, column) == 1
    }

    func value(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column),
            count: Int(PQgetlength(result, row, column))
        )
    }
}

extension DatabaseRows: Sequence {
    func makeIterator() -> some IteratorProtocol<DatabaseRow> {
        (0..<count).lazy.map { self[$0] }.makeIterator()
    }
}

struct DatabaseRow {
    fileprivate let rows: DatabaseRows
    fileprivate let number: Int32

    func isNull(_ column: Int32) -> Bool { rows.isNull(number, column) }

    /// Returns a `bigint`, `integer`, `smallint` or `boolean`; zero for `NULL`.
    func integer(_ column: Int32) -> Int64 {
        let value = rows.value(number, column)
        switch value.count {
        case 8: return Int64(bigEndian: value.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: value.loadUnaligned(as: Int32.self)))
        case 2: return Int64(Int16(bigEndian: value.loadUnaligned(as: Int16.self)))
        case 1: return Int64(value[0])
        default: return 0
        }
    }

    func optional(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    func boolean(_ column: Int32) -> Bool { integer(column) != 0 }

    func bytes(_ column: Int32) -> [UInt8] { [UInt8](rows.value(number, column)) }

    /// Returns bytes that are valid as long as the rows exist.
    func buffer(_ column: Int32) -> UnsafeRawBufferPointer { rows.value(number, column) }

    /// Returns a `text` or `bytea` as text.
    func text(_ column: Int32) -> String {
        String(decoding: rows.value(number, column), as: UTF8.self)
    }
}
#endif
