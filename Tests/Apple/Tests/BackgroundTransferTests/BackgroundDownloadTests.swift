import CFNetwork
import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import Testing

@Suite("Background downloads on a stand-in", .timeLimit(.minutes(1)))
struct BackgroundDownloadTests {
    private let content: [UInt8] = [1, 2, 3, 4, 5, 6]
    private let told = Told()

    private func start(
        _ download: ResumableDownload,
        in app: Device.App
    ) -> Task<ResumableDownload.Receipt, any Error> {
        Task { [told] in try await download.run(in: app, observer: told.observer) }
    }

    @Test("The system downloads the file to its destination and leaves no other file")
    func fetches() async throws {
        let device = try Device()
        let app = device.launch()
        let run = start(try device.download("film.mp4?key=secret"), in: app)
        let task = try await device.transfer()
        let request = try #require(task.originalRequest)
        #expect("\(request)" == "https://files.example/v1/film.mp4?key=secret")
        #expect(try #require(task.taskDescription).contains("secret") == false)
        device.system.move(task, to: 2, of: 6)
        device.system.move(task, to: 4, of: -1)
        device.system.answer(task, 200, ["ETag": "\"1\""], content)
        let receipt = try await run.value
        #expect(device.bytes(device.film) == content)
        #expect(device.names == ["film.mp4"])
        #expect(receipt.byteCount == 6)
        #expect(receipt.resumedBytes == 0)
        #expect(receipt.entityTag == "\"1\"")
        #expect(told.events == ["2 of 6", "4 of ?", "safe 6"])
        #expect(device.transport.calls.isEmpty)
    }

    @Test("A download that completes after the process has died is found by the next process")
    func survivesDeath() async throws {
        let device = try Device()
        let first = start(try device.download(), in: device.launch())
        let task = try await device.transfer()
        try await device.endProcess(during: first)
        device.system.answer(task, 200, ["ETag": "\"1\""], content)
        // No process receives the event.
        #expect(device.names.contains(".keel-film.mp4.part") == false)

        let second = device.launch()
        // Moved before the system removes it, although no call asks for it yet.
        try await waitUntilMoved(device)
        let receipt = try await start(try device.download(), in: second).value
        #expect(device.bytes(device.film) == content)
        #expect(device.names == ["film.mp4"])
        #expect(receipt.resumedBytes == 6)
        #expect(receipt.entityTag == "\"1\"")
        #expect(device.system.tasks.isEmpty)
        #expect(device.transport.calls.isEmpty)
    }

    @Test("A run can start while the received file is being moved")
    func runsWhileMoving() async throws {
        for _ in 0..<50 {
            let device = try Device()
            let first = start(try device.download(), in: device.launch())
            let task = try await device.transfer()
            try await device.endProcess(during: first)
            device.system.answer(task, 200, [:], content)
            let receipt = try await start(try device.download(), in: device.launch()).value
            #expect(receipt.byteCount == 6)
            #expect(device.names == ["film.mp4"])
        }
    }

    @Test("A completed download is found after another process death, also by a run in the app")
    func survivesTwoDeaths() async throws {
        for isInApp in [false, true] {
            let device = try Device()
            let first = start(try device.download(), in: device.launch())
            let task = try await device.transfer()
            try await device.endProcess(during: first)
            device.system.answer(task, 200, [:], content)
            let second = device.launch()
            try await waitUntilMoved(device)
            device.system.endProcess()
            if isInApp {
                try await device.download().run()
            } else {
                try await device.download().run(in: device.launch())
            }
            #expect(device.bytes(device.film) == content)
            #expect(device.names == ["film.mp4"])
            #expect(device.transport.calls.isEmpty)
            withExtendedLifetime(second) {}
        }
    }

    @Test("The next process waits for a download that was in progress when the process died")
    func findsAgain() async throws {
        let device = try Device()
        let first = start(try device.download(), in: device.launch())
        let task = try await device.transfer()
        device.system.move(task, to: 3, of: 6)
        try await device.endProcess(during: first)

        let run = start(try device.download(), in: device.launch())
        try await waitUntilTold("resumed at 3")
        let same = try await device.transfer()
        #expect(same.taskIdentifier == task.taskIdentifier)
        device.system.answer(same, 200, [:], content)
        #expect(try await run.value.resumedBytes == 3)
        #expect(device.bytes(device.film) == content)
    }

    @Test(
        "Cancelling pauses the download, and the next run resumes from the system's resume data",
        arguments: [true, false],
        [true, false]
    )
    func pauses(isResumable: Bool, tellsEndFirst: Bool) async throws {
        let device = try Device()
        device.system.tellsEndFirst = tellsEndFirst
        let app = device.launch()
        let data = Data("offset 4".utf8)
        if isResumable { device.system.resumeData = data }
        let first = start(try device.download(), in: app)
        _ = try await device.transfer()
        first.cancel()
        #expect(try await failure(of: first).code == .cancelled)
        #expect(device.names.contains(".keel-film.mp4.resume") == isResumable)

        let second = start(try device.download(), in: app)
        let task = try await device.transfer()
        #expect(task.resumeData == (isResumable ? data : nil))
        // It can be used only once.
        #expect(!device.names.contains(".keel-film.mp4.resume"))
        if isResumable, let task = task as? URLSessionDownloadTask {
            device.system.resume(task, at: 4, of: 6)
        }
        let fields = isResumable ? ["Content-Range": "bytes 4-5/6"] : [:]
        device.system.answer(task, isResumable ? 206 : 200, fields, content)
        #expect(try await second.value.resumedBytes == (isResumable ? 4 : 0))
        #expect(device.bytes(device.film) == content)
        #expect(device.names == ["film.mp4"])
    }

    @Test("After a failure, the next run resumes from the system's resume data")
    func fails() async throws {
        let device = try Device()
        let app = device.launch()
        let data = Data("offset 4".utf8)
        let first = start(try device.download(), in: app)
        let task = try await device.transfer()
        device.system.move(task, to: 4, of: 6)
        device.system.fail(task, URLError(.networkConnectionLost), resumeData: data)
        let error = try await failure(of: first)
        #expect(error.code == .connection)
        #expect(error.completedBytes == 4)
        let second = start(try device.download(), in: app)
        #expect(try await device.transfer().resumeData == data)
        second.cancel()
        _ = try await failure(of: second)
    }

    @Test("A download that the user ended in the app switcher restarts at the next launch")
    func begunAgain() async throws {
        let device = try Device()
        let data = Data("offset 4".utf8)
        let first = start(try device.download(), in: device.launch())
        let task = try await device.transfer()
        try await device.endProcess(during: first)
        device.system.fail(task, URLError(.cancelled), resumeData: data)
        let app = device.launch()
        let second = start(try device.download(), in: app)
        let next = try await device.transfer()
        #expect(next.taskIdentifier != task.taskIdentifier)
        #expect(next.resumeData == data)
        device.system.answer(next, 200, [:], content)
        _ = try await second.value
        #expect(device.bytes(device.film) == content)
    }

    @Test(
        "A refused download throws an error with its status, and its body is not kept as the file",
        arguments: [(404, TransferError.Code.refused), (503, .unavailable)]
    )
    func refused(status: Int, code: TransferError.Code) async throws {
        let device = try Device()
        let app = device.launch()
        let run = start(try device.download(), in: app)
        device.system.answer(try await device.transfer(), status, [:], content)
        let error = try await failure(of: run)
        #expect(error.code == code)
        #expect(error.status?.code == status)
        #expect(device.names.isEmpty)
    }

    @Test("A file with an unexpected digest is dropped")
    func digest() async throws {
        let device = try Device()
        let app = device.launch()
        for (sum, code) in [(21, nil), (20, .digestMismatch)] as [(UInt8, TransferError.Code?)] {
            let run = start(try device.download { $0.expectedDigest = .sum(sum) }, in: app)
            device.system.answer(try await device.transfer(), 200, [:], content)
            if let code {
                #expect(try await failure(of: run).code == code)
            } else {
                _ = try await run.value
            }
            #expect(device.names == ["film.mp4"])
        }
    }

    @Test("A transfer from another address is dropped together with its leftovers")
    func otherAddress() async throws {
        let device = try Device()
        let first = start(try device.download("old.mp4"), in: device.launch())
        let old = try await device.transfer()
        try await device.endProcess(during: first)
        let app = device.launch()
        let run = start(try device.download("new.mp4"), in: app)
        let task = try await device.transfer { $0.taskIdentifier != old.taskIdentifier }
        #expect("\(try #require(task.originalRequest))".hasSuffix("new.mp4"))
        device.system.answer(task, 200, [:], content)
        _ = try await run.value
        #expect(device.bytes(device.film) == content)
    }

    @Test("A file that cannot be kept is reported as an error")
    func noFolder() async throws {
        let device = try Device()
        let app = device.launch()
        let run = start(try device.download(), in: app)
        let task = try await device.transfer()
        try FileManager.default.removeItem(at: device.folder)
        device.system.answer(task, 200, [:], content)
        #expect(try await failure(of: run).code == .folderNotFound)
    }

    @Test("Two runs for one file exclude each other, and discarding ends the transfer in progress")
    func discards() async throws {
        let device = try Device()
        let app = device.launch()
        let first = start(try device.download(), in: app)
        _ = try await device.transfer()
        #expect(try await failure(of: start(try device.download(), in: app)).code == .inUse)
        await #expect(throws: TransferError.self) { try await device.download().discard(in: app) }
        try await device.endProcess(during: first)
        let next = device.launch()
        try await device.download().discard(in: next)
        try await waitUntil { device.system.tasks.isEmpty }
        withExtendedLifetime(next) {}
        #expect(device.names.isEmpty)
    }

    private func waitUntilMoved(_ device: Device) async throws {
        try await waitUntil { device.names.contains(".keel-film.mp4.download") }
    }

    private func waitUntilTold(_ event: String) async throws {
        try await waitUntil { told.events.contains(event) }
    }
}
