import CFNetwork
import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import Testing

@Suite("Background uploads on a stand-in", .timeLimit(.minutes(1)))
struct BackgroundUploadTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private static let location = "https://files.example/v1/films/7"
    private static let offers = Answer.status(.noContent, headers: fields(["Tus-Version": "1.0.0"]))
    private static let created = Answer.status(
        .created,
        headers: fields(["Tus-Resumable": "1.0.0", "Location": location])
    )

    private let content: [UInt8] = [1, 2, 3, 4, 5, 6]
    private let told = Told()

    private static func fields(_ fields: [String: String]) -> HTTPFields {
        var result = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { result[name] = value }
        }
        return result
    }

    private static func arrived(_ offset: Int) -> Answer {
        .status(.ok, headers: fields(["Upload-Offset": "\(offset)"]))
    }

    private func device(_ answers: [Answer]) throws -> Device {
        let device = try Device(answers)
        try Data(content).write(to: device.film)
        return device
    }

    private func start(
        _ upload: ResumableUpload,
        in app: Device.App
    ) -> Task<ResumableUpload.Receipt, any Error> {
        Task { [told] in try await upload.run(in: app, observer: told.observer) }
    }

    /// Ends the process and its running work.
    private func end<Value: Sendable>(_ run: Task<Value, any Error>, on device: Device) async throws
    {
        try await device.endProcess(during: run)
    }

    @Test("The app creates the upload, and the system sends the file in one piece")
    func sends() async throws {
        let device = try device([Self.offers, Self.created])
        let app = device.launch()
        let run = start(try device.upload(), in: app)
        let task = try await device.transfer()
        #expect(task.file == device.film)
        #expect("\(try #require(task.originalRequest))" == Self.location)
        device.system.move(task, to: 4, of: 6)
        device.system.answer(task, 204, ["Upload-Offset": "6"])
        let receipt = try await run.value
        #expect(receipt.byteCount == 6)
        #expect(receipt.wasResumable)
        #expect(receipt.response?.status == .noContent)
        #expect(told.events == ["4 of 6", "safe 6"])
        #expect(device.names == ["film.mp4"])
        #expect(device.transport.calls.map(\.head.method) == [.options, .post])
    }

    @Test("An upload that completes after the process has died is found by the next process")
    func survivesDeath() async throws {
        for isBefore in [true, false] {
            let device = try device([Self.offers, Self.created])
            let first = start(try device.upload(), in: device.launch())
            let task = try await device.transfer()
            try await end(first, on: device)
            if isBefore { device.system.answer(task, 204, ["Upload-Offset": "6"]) }
            let app = device.launch()
            let second = start(try device.upload(), in: app)
            if !isBefore {
                let same = try await device.transfer()
                #expect(same.taskIdentifier == task.taskIdentifier)
                device.system.answer(same, 204, ["Upload-Offset": "6"])
            }
            #expect(try await second.value.response?.status == .noContent)
            #expect(device.names == ["film.mp4"])
            // The server is not asked, because it may have forgotten a complete upload.
            #expect(device.transport.calls.count == 2)
        }
    }

    @Test("If the response is lost, the server reports what has arrived")
    func losesAnswer() async throws {
        let device = try device([Self.offers, Self.created, Self.arrived(6)])
        let first = start(try device.upload(), in: device.launch())
        let task = try await device.transfer()
        try await end(first, on: device)
        device.system.fail(task, URLError(.timedOut))
        let app = device.launch()
        let receipt = try await start(try device.upload(), in: app).value
        #expect(receipt.byteCount == 6)
        #expect(receipt.response == nil)
        #expect(device.names == ["film.mp4"])
    }

    @Test("After a failure the server is asked for its offset, and the rest is sent as a file")
    func sendsRest() async throws {
        let device = try device([Self.offers, Self.created, Self.arrived(4)])
        let app = device.launch()
        let run = start(try device.upload(), in: app)
        let task = try await device.transfer()
        device.system.fail(task, URLError(.networkConnectionLost))
        let next = try await device.transfer { $0.taskIdentifier != task.taskIdentifier }
        let rest = try #require(next.file)
        #expect(rest != device.film)
        #expect(device.bytes(rest) == [5, 6])
        device.system.answer(next, 204, ["Upload-Offset": "6"])
        _ = try await run.value
        #expect(told.events == ["again", "safe 4", "safe 6"])
        #expect(device.names == ["film.mp4"])
    }

    @Test("Cancelling pauses, and the next run sends the rest")
    func pauses() async throws {
        let device = try device([Self.offers, Self.created, Self.arrived(4)])
        let app = device.launch()
        let first = start(try device.upload(), in: app)
        _ = try await device.transfer()
        first.cancel()
        #expect(try await failure(of: first).code == .cancelled)
        let second = start(try device.upload(), in: app)
        let task = try await device.transfer()
        #expect(device.bytes(try #require(task.file)) == [5, 6])
        device.system.answer(task, 204, ["Upload-Offset": "6"])
        #expect(try await second.value.resumedBytes == 4)
    }

    @Test("A file that changes during the upload is an error")
    func changes() async throws {
        let device = try device([Self.offers, Self.created])
        let app = device.launch()
        let run = start(try device.upload(), in: app)
        let task = try await device.transfer()
        try Data([1]).write(to: device.film)
        device.system.answer(task, 204, ["Upload-Offset": "6"])
        #expect(try await failure(of: run).code == .sourceChanged)
    }

    @Test("A plain request is sent once, even if the process dies")
    func sendsWhole() async throws {
        let unknown = Answer.status(.notFound)
        let device = try device([unknown, unknown])
        let upload = try device.upload { $0.fallback = .sendPlainRequest }
        let first = start(upload, in: device.launch())
        let task = try await device.transfer()
        try await end(first, on: device)
        let app = device.launch()
        let second = start(upload, in: app)
        try await waitUntil { told.events == ["whole", "whole"] }
        let same = try await device.transfer()
        #expect(same.taskIdentifier == task.taskIdentifier)
        device.system.answer(same, 201, [:], [7, 8])
        let receipt = try await second.value
        #expect(!receipt.wasResumable)
        #expect(receipt.body == [7, 8])
    }

    @Test("Discarding ends the upload in progress and tells the server")
    func discards() async throws {
        let device = try device([
            Self.offers, Self.created, Self.arrived(4), .status(.noContent),
        ])
        let first = start(try device.upload(), in: device.launch())
        _ = try await device.transfer()
        try await end(first, on: device)
        let app = device.launch()
        try await device.upload().discard(in: app)
        try await waitUntil { device.system.tasks.isEmpty }
        withExtendedLifetime(app) {}
        #expect(device.names == ["film.mp4"])
        #expect(device.transport.calls.last?.head.method == .delete)
    }
}
