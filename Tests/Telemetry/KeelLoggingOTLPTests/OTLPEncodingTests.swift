#if Logging

import KeelTestSupport
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelJournal
import KeelLogSecrets
import KeelLogging
import KeelTestKit
import Logging
import Testing

@testable import KeelLoggingOTLP

@Suite("OTLP encoding")
struct OTLPEncodingTests {
    private static let python = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    private static let hasProto: Bool = {
        guard let python else { return false }
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-c", "import opentelemetry.proto.logs.v1.logs_pb2"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Logs to a journal and returns the bodies of the requests that ship it.
    private func bodies(
        _ encoding: OTLPLogConfiguration.Encoding,
        compresses: Bool = false,
        _ log: (Logger) -> Void
    ) async throws -> [[UInt8]] {
        let journal = try Journal(
            at: "/journal",
            configuration: JournalConfiguration(),
            files: SimulatedFileSystem()
        )
        let output = OTLPLogOutput(journal)
        let recorder = LogRecorder(now: { 1_795_340_713_123_456 })
        log(
            Logger(label: "app.\(encoding)") {
                OTLPLogHandler(label: $0, output: output, level: .trace, recorder: recorder)
            }
        )
        let url = try #require(URL(string: "http://collector:4318/v1/logs"))
        var configuration = OTLPLogConfiguration(endpoint: url)
        configuration.encoding = encoding
        configuration.compresses = compresses
        configuration.resource = ["service.name": "tests", "service.version": "1"]
        let transport = ScriptedHTTPTransport([], then: .status(.ok))
        #expect(await (try OTLPLogExporter(journal, to: configuration, over: transport)).flush())
        return transport.calls.map(\.body)
    }

    private static func sample(_ logger: Logger) {
        for level in Logger.Level.allCases { logger.log(level: level, "level \(level)") }
        logger.info(
            "é\n\"𝄞",
            metadata: [
                "a": "1", "empty": "", "list": ["x", ["y": "z"]], "none": [],
                "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span-id": "00f067aa0ba902b7",
            ]
        )
        logger.info("not ids", metadata: ["trace_id": "xyz", "span_id": "0000000000000000"])
    }

    @Test(
        "opentelemetry-proto reads every field, as protobuf and JSON, compressed or not",
        .enabled(
            if: hasProto,
            "SKIPPED: KEEL_PYTHON names no Python with the package 'opentelemetry-proto'"
        ),
        arguments: [
            (OTLPLogConfiguration.Encoding.protobuf, true), (.protobuf, false), (.json, true),
        ]
    )
    func oracle(encoding: OTLPLogConfiguration.Encoding, compresses: Bool) async throws {
        let body = try #require(
            try await bodies(encoding, compresses: compresses, Self.sample).first
        )
        #expect(body.starts(with: [0x1F, 0x8B]) == compresses)
        let lines = try await Self.decode(body, encoding).split(separator: "\n").map(String.init)
        let numbers = [1, 5, 9, 10, 13, 17, 21]
        try #require(lines.count == numbers.count + 2)
        func line(
            _ text: String,
            _ number: Int,
            _ severity: String,
            attributes: String = "",
            trace: String = "",
            span: String = ""
        ) -> String {
            #"{"attributes":{\#(attributes)"code.file.path":"#
                + #""KeelLoggingOTLPTests/OTLPEncodingTests.swift","#
                + #""code.function.name":"sample(_:)"}"#
                + #","body":"\#(text)","number":\#(number),"observed":1795340713123456000,"#
                + #""resource":{"service.name":"tests","service.version":"1"},"#
                + #""scope":"app.\#(encoding)","severity":"\#(severity)","span":"\#(span)","#
                + #""time":1795340713123456000,"trace":"\#(trace)"}"#
        }
        for (index, level) in Logger.Level.allCases.enumerated() {
            #expect(lines[index] == line("level \(level)", numbers[index], level.rawValue))
        }
        let rich = lines[numbers.count]
        #expect(rich.contains(#""body":"é\n\"𝄞""#))
        #expect(rich.contains(#""a":"1""#) && rich.contains(#""empty":"""#))
        #expect(rich.contains(#""list":["x",{"y":"z"}],"none":[]"#))
        #expect(rich.contains(#""trace":"4bf92f3577b34da6a3ce929d0e0e4736""#))
        #expect(rich.contains(#""span":"00f067aa0ba902b7""#))
        #expect(!rich.contains("trace_id") && !rich.contains("span-id"))
        let plain = lines[numbers.count + 1]
        #expect(plain.contains(#""trace_id":"xyz""#))
        #expect(plain.contains(#""span_id":"0000000000000000""#))
        #expect(plain.contains(#""trace":"""#) && plain.contains(#""span":"""#))
    }

    private static func decode(
        _ body: [UInt8],
        _ encoding: OTLPLogConfiguration.Encoding
    ) async throws -> String {
        let file = URL.temporaryDirectory.appending(path: "keel-otlp-\(UUID().uuidString)")
        try Data(body).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Support/decode-otlp.py")
        let run = try await ProgramRun(
            URL(filePath: try #require(python)),
            [script.path, "\(encoding)", file.path]
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        return run.text
    }

    @Test("No request contains one of 1,000 planted secrets", arguments: ["protobuf", "json"])
    func leaks(encoding: String) async throws {
        let planted = PlantedSecrets.make(1000, seed: 12)
        let bodies = try await bodies(encoding == "json" ? .json : .protobuf) {
            planted.log(to: $0)
        }
        #expect(bodies.count == 2)
        #expect(planted.found(in: bodies.joined()) == [])
        let text = String(decoding: Array(bodies.joined()), as: UTF8.self)
        #expect(text.contains("<redacted>"))
    }

    @Test("A field whose length takes several bytes is framed correctly")
    func lengths() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 70_000] {
            var writer = ProtobufWriter()
            writer.message(3) { $0.present(1, String(repeating: "x", count: length)) }
            var reader = ProtobufReader(writer.bytes[...])
            guard case (3, .data(let inner))? = reader.next() else { return fail("no field") }
            var nested = ProtobufReader(inner)
            guard case (1, .data(let text))? = nested.next() else { return fail("no text") }
            #expect(text.count == length)
            #expect(reader.next() == nil && !reader.isDamaged)
        }
    }

    @Test("A partial success is read in both encodings, and an invalid one rejects nothing")
    func partialSuccess() {
        var writer = ProtobufWriter()
        writer.message(1) { message in
            message.varint(1, 300)
            message.string(2, "no")
        }
        #expect(OTLPPartialSuccess.rejected(writer.bytes, isJSON: false) == 300)
        #expect(OTLPPartialSuccess.rejected([], isJSON: false) == 0)
        #expect(OTLPPartialSuccess.rejected([0xFF, 0xFF], isJSON: false) == 0)
        for text in [
            #"{"partialSuccess":{"rejectedLogRecords":"7"}}"#,
            #"{"partialSuccess":{"rejectedLogRecords":7,"errorMessage":"x"}}"#,
        ] { #expect(OTLPPartialSuccess.rejected(Array(text.utf8), isJSON: true) == 7) }
        for text in ["", "{}", "[]", #"{"partialSuccess":{"rejectedLogRecords":"-4"}}"#] {
            #expect(OTLPPartialSuccess.rejected(Array(text.utf8), isJSON: true) == 0)
        }
    }
}

#endif
