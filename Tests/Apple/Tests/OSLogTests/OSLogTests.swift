import KeelLogging
import Testing
import os

import struct Logging.Logger

/// Each test has its own subsystem, because the log belongs to the machine.
@Suite("The unified log")
struct OSLogTests {
    private func logger(_ subsystem: String, _ category: String = "mail") -> Logging.Logger {
        Logging.Logger(label: category) { label in
            OSLogHandler(label: label, output: OSLogOutput(subsystem: subsystem), level: .trace)
        }
    }

    @Test("Every level maps to its type")
    func levels() {
        let logger = logger("levels")
        for level in Logging.Logger.Level.allCases { logger.log(level: level, "x") }
        let types = UnifiedLog.entries(of: "levels").map(\.type)
        #expect(types == [.debug, .debug, .info, .default, .default, .error, .fault])
    }

    @Test("The category is the label, and the text is public")
    func text() {
        logger("text").info("Sent", metadata: ["count": "3", "box": "in"])
        logger("text", "sync").info("Done")
        let entries = UnifiedLog.entries(of: "text")
        #expect(entries.map(\.category) == ["mail", "sync"])
        #expect(entries.map(\.text) == ["Sent box=in count=3", "Done"])
    }

    @Test("A message below the logger's level is not written")
    func threshold() {
        var logger = logger("threshold")
        logger.logLevel = .warning
        logger.info("a")
        logger.error("b")
        #expect(UnifiedLog.entries(of: "threshold").map(\.text) == ["b"])
    }

    @Test("Secrets do not reach the unified log")
    func secrets() {
        let logger = logger("secrets")
        logger.info("Authorization: Bearer abcdef0123456789", metadata: ["password": "hunter2"])
        let text = UnifiedLog.entries(of: "secrets").map(\.text).joined()
        #expect(!text.isEmpty)
        #expect(!text.contains("abcdef0123456789"))
        #expect(!text.contains("hunter2"))
    }
}
