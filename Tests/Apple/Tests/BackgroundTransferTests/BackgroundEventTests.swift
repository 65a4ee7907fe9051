import CFNetwork
import Foundation
import KeelHTTPTransfers
import KeelTestKit
import Synchronization
import Testing

@testable import KeelHTTPTransfers

@Suite("Completion of background session events on a stand-in", .timeLimit(.minutes(1)))
struct BackgroundEventTests {
    /// Acts as the app's delegate, which receives UIKit's events.
    @MainActor
    private func wake(_ app: Device.App, _ completionHandler: @escaping () -> Void) {
        app.onEventsFinished { completionHandler() }
    }

    @Test("The handler is called once, on the main actor, when the file is in place")
    func calledOnce() async throws {
        let device = try Device()
        let told = Told()
        let first = Task { try await device.download().run(in: device.launch()) }
        let task = try await device.transfer()
        device.system.move(task, to: 1, of: 2)
        try await device.endProcess(during: first)

        let app = device.launch()
        let second = Task { try await device.download().run(in: app, observer: told.observer) }
        try await waitUntil { told.events == ["resumed at 1"] }
        device.system.answer(task, 200, [:], [1, 2])
        device.system.finishEvents()
        let calls = Mutex<[Bool]>([])
        await wake(app) {
            MainActor.assertIsolated()
            let isThere = FileManager.default.fileExists(atPath: device.film.path)
            calls.withLock { $0.append(isThere) }
        }
        _ = try await second.value
        try await waitUntil { calls.withLock { $0.count } == 1 }
        #expect(calls.withLock { $0 } == [true])
        device.system.finishEvents()
        device.system.queueIsEmpty()
        await MainActor.run {}
        #expect(calls.withLock { $0.count } == 1)
        withExtendedLifetime(app) {}
    }

    @Test("The handler waits for all events, but not for transfers in progress")
    func waitsForEvents() async throws {
        let device = try Device()
        let app = device.launch()
        let run = Task { try await device.download().run(in: app) }
        let task = try await device.transfer()
        let calls = Mutex(0)
        await wake(app) { calls.withLock { $0 += 1 } }
        device.system.move(task, to: 1, of: 2)
        device.system.queueIsEmpty()
        await MainActor.run {}
        #expect(calls.withLock { $0 } == 0)
        device.system.finishEvents()
        try await waitUntil { calls.withLock { $0 } == 1 }
        device.system.answer(task, 200, [:], [1, 2])
        _ = try await run.value
    }

    @Test("A handler that is set after the events is called too")
    func comesLate() async throws {
        let device = try Device()
        let app = device.launch()
        device.system.finishEvents()
        device.system.queueIsEmpty()
        let calls = Mutex(0)
        await wake(app) { calls.withLock { $0 += 1 } }
        try await waitUntil { calls.withLock { $0 } == 1 }
    }

    @Test("A task identifies its file relative to the home folder, wherever that is")
    func movesHome() throws {
        let path = BackgroundTask.abbreviated("/var/1/Documents/film.mp4", below: "/var/1")
        #expect(path == "~/Documents/film.mp4")
        #expect(BackgroundTask.expanded(path, below: "/var/2") == "/var/2/Documents/film.mp4")
        #expect(
            BackgroundTask.abbreviated("/var/12/film.mp4", below: "/var/1") == "/var/12/film.mp4"
        )
        #expect(BackgroundTask.expanded("/tmp/film.mp4", below: "/var/2") == "/tmp/film.mp4")
        let task = BackgroundTask(.download, path: "/tmp/a", address: .init(place: "b", query: 1))
        #expect(BackgroundTask(description: task.description) == task)
        #expect(BackgroundTask(description: "somebody's own") == nil)
        #expect(BackgroundTask(description: nil) == nil)
    }
}
