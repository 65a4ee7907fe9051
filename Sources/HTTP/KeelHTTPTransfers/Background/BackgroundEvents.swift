#if canImport(Darwin)
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import Synchronization

#if canImport(FoundationNetworking)
import CFNetwork
#endif

/// The delegate of a background session.
///
/// The system also reports tasks started by an earlier process, known only by their descriptions.
final class BackgroundEvents: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate,
    Sendable
{
    private struct State {
        var bodies: [Int: [UInt8]] = [:]
        var failures: [Int: TransferError] = [:]
        var pausing: Set<Int> = []
        var paused: Set<Int> = []
    }

    private static let bodyLimit = 64 * 1024

    let runs = BackgroundRuns()
    private let state = Mutex(State())

    func end(
        of task: URLSessionTask,
        _ purpose: BackgroundTask,
        _ watch: BackgroundWatch
    ) async -> BackgroundRuns.Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { end in
                runs.wait(for: task.taskIdentifier, purpose.key, watch, end)
                task.resume()
            }
        } onCancel: {
            pause(task, purpose)
        }
    }

    private func pause(_ task: URLSessionTask, _ purpose: BackgroundTask) {
        guard let download = task as? URLSessionDownloadTask else { return task.cancel() }
        let number = task.taskIdentifier
        state.withLock { _ = $0.pausing.insert(number) }
        download.cancel { [self] data in
            if let data { keep(data, purpose) }
            let isPaused = state.withLock { state in
                guard state.pausing.remove(number) != nil else { return false }
                state.paused.insert(number)
                return true
            }
            let cancelled = TransferError(.cancelled)
            if isPaused { runs.ended(number, .init(task: purpose, outcome: .failure(cancelled))) }
        }
    }

    private func keep(_ data: Data, _ task: BackgroundTask) {
        let file = DownloadFile(completing: task)
        // Without it, the next run starts over.
        try? file.keep(DownloadResumption(address: task.address, data: data))
    }

    // MARK: Called by the session

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        // The file is deleted when this method returns.
        guard let task = BackgroundTask(description: downloadTask.taskDescription),
            !runs.isDropped(downloadTask.taskIdentifier),
            let response = downloadTask.response as? HTTPURLResponse
        else { return }
        let head = HTTPResponse(response)
        guard head.status.kind == .successful else { return }
        let file = DownloadFile(completing: task)
        do throws(TransferError) {
            let record = DownloadResponse(head, address: task.address).record
            try runs.onDisk(task.key) { isRunning throws(TransferError) in
                try file.adopt(location, record, isLocked: isRunning)
            }
        } catch {
            state.withLock { $0.failures[downloadTask.taskIdentifier] = error }
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        watch(downloadTask)?.resumed(at: fileOffset)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        watch(downloadTask)?.moved(totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        watch(task)?.moved(totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            let room = Self.bodyLimit - state.bodies[dataTask.taskIdentifier, default: []].count
            state.bodies[dataTask.taskIdentifier, default: []] += data.prefix(room)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        let number = task.taskIdentifier
        guard let purpose = BackgroundTask(description: task.taskDescription) else { return }
        let (body, failure, isPaused) = state.withLock { state in
            // A task that finished before it could be paused has finished.
            let isPausing = error != nil && state.pausing.contains(number)
            if !isPausing { state.pausing.remove(number) }
            return (
                state.bodies.removeValue(forKey: number),
                state.failures.removeValue(forKey: number),
                state.paused.remove(number) != nil || isPausing
            )
        }
        guard !isPaused else { return }
        let outcome: BackgroundRuns.Outcome
        if let error {
            let key = NSURLSessionDownloadTaskResumeData
            let isDropped = runs.isDropped(number)
            if !isDropped, let data = (error as NSError).userInfo[key] as? Data {
                keep(data, purpose)
            }
            outcome = .failure(Self.failure(error, task))
        } else if let failure {
            outcome = .failure(failure)
        } else if let response = task.response as? HTTPURLResponse {
            outcome = .success(.init(head: HTTPResponse(response), body: body ?? []))
        } else {
            outcome = .failure(TransferError(.invalidResponse))
        }
        runs.ended(number, .init(task: purpose, outcome: outcome))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        runs.eventsAreOver()
    }

    private func watch(_ task: URLSessionTask) -> BackgroundWatch? {
        BackgroundTask(description: task.taskDescription).flatMap { purpose in
            runs.watch(task.taskIdentifier, purpose.key)
        }
    }

    private static func failure(_ error: any Error, _ task: URLSessionTask) -> TransferError {
        TransferError(
            TransportError(
                urlError: (error as? URLError)?.errorCode ?? -1,
                during: task.response == nil ? .awaitHead : .readBody
            )
        )
    }
}
#endif
