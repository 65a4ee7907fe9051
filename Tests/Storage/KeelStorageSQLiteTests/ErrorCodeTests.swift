#if SQLite
import GRDB
import KeelStorage
import Testing

@testable import KeelStorageSQLite

@Suite("Codes of SQLite's errors")
struct ErrorCodeTests {
    @Test("a full disk and a contended log are reported as such, whichever call of SQLite fails")
    func codes() {
        func code(_ result: ResultCode) -> StorageError.Code {
            StorageError(mapping: DatabaseError(resultCode: result)).code
        }
        #expect(code(.SQLITE_FULL) == .diskFull)
        #expect(code(.SQLITE_IOERR_SHMSIZE) == .diskFull)
        #expect(code(.SQLITE_IOERR_WRITE) == .unavailable)
        #expect(code(.SQLITE_PROTOCOL) == .busy)
    }
}
#endif
