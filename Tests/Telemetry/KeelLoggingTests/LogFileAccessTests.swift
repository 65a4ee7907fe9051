#if Logging && (os(Linux) || os(macOS))

import Foundation
import KeelTestSupport
import Testing

@testable import KeelLogging

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Access to log files")
final class LogFileAccessTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "keel-logs-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func modes() throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let path = folder.appending(path: name).path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            modes[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        return modes
    }

    @Test(
        "Every file has the requested permissions, including compressed ones",
        arguments: [nil, 0o640] as [UInt16?]
    )
    func permissions(_ asked: UInt16?) throws {
        let mask = umask(0o022)
        umask(mask)
        var configuration = LogFileConfiguration()
        if let asked { configuration.permissions = asked }
        let file = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
        for number in 0..<3 {
            file.write(.sample("record \(number)"))
            file.rotate()
        }
        file.waitForMaintenance()
        let modes = try modes()
        #expect(modes.keys.contains("app.log") && modes.keys.contains { $0.hasSuffix(".gz") })
        #expect(Set(modes.values) == [Int(asked ?? 0o600) & ~Int(mask)])
    }

    @Test("Permissions that lock out the owner or let everybody write are rejected")
    func senseless() throws {
        for permissions: UInt16 in [0o000, 0o400, 0o666, 0o700, 0o4600] {
            var configuration = LogFileConfiguration()
            configuration.permissions = permissions
            expectError(LoggingError.self, .invalidArgument) {
                _ = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
            }
        }
    }

    @Test("A link or a pipe in place of a log file is refused and not written to")
    func links() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let target = folder.appending(path: "target").path
        #expect(FileManager.default.createFile(atPath: target, contents: Data("kept".utf8)))
        #expect(symlink(target, folder.appending(path: "link.log").path) == 0)
        #expect(mkfifo(folder.appending(path: "pipe.log").path, 0o600) == 0)
        for name in ["link.log", "pipe.log"] {
            let error = expectError(LoggingError.self, .invalidArgument) {
                _ = try RotatingLogFile(at: folder.appending(path: name))
            }
            #expect(error?.message.contains("name the file itself") == true)
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "kept")
    }
}

#endif
