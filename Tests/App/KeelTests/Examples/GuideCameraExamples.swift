import Foundation
import Keel
import KeelConformance
import KeelDependencies
import Synchronization
import Testing

// MARK: The front

private struct CameraService: Sendable {
    private let adapter: any CameraAdapter

    init(_ adapter: any CameraAdapter) {
        self.adapter = adapter
    }

    func photo(_ settings: PhotoSettings = PhotoSettings()) async throws(CameraError) -> Photo {
        switch await adapter.permission() {
        case .granted: break
        case .denied: throw CameraError(.permissionDenied, "The user does not allow the camera.")
        case .notDetermined:
            guard try await adapter.requestPermission() == .granted else {
                throw CameraError(.permissionDenied, "The user does not allow the camera.")
            }
        }
        let photo = try await adapter.capture(settings)
        guard !photo.jpeg.isEmpty else { throw CameraError(.unavailable, "The photo is empty.") }
        return photo
    }
}

// MARK: The adapter

private enum CameraPermission: Sendable { case notDetermined, granted, denied }

private struct PhotoSettings: Hashable, Sendable {
    var usesFlash = false
}

private struct Photo: Hashable, Sendable {
    var jpeg: Data
}

/// A type that takes photos.
///
/// - It asks the user only in `requestPermission()`.
/// - A capture without permission fails with `permissionDenied`, and takes no photo.
/// - A capture that its caller cancels ends at once, with the code `cancelled`.
private protocol CameraAdapter: Sendable {
    func permission() async -> CameraPermission
    func requestPermission() async throws(CameraError) -> CameraPermission
    func capture(_ settings: PhotoSettings) async throws(CameraError) -> Photo
}

// MARK: Errors

private struct CameraError: KeelError {
    let code: Code
    let message: String
    let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    struct Code: KeelErrorCode {
        let kind: ErrorKind

        static let permissionDenied = Self(
            name: "permissionDenied",
            advice: "Say what the photo is for, and point to the system's privacy settings."
        )
        static let unavailable = Self(
            name: "unavailable",
            isTransient: true,
            advice: "Close what else uses the camera, then try again."
        )
        static let cancelled = Self(
            name: "cancelled",
            advice: "Nothing to do: the caller no longer wants the photo."
        )
        static let known: [Self] = [.permissionDenied, .unavailable, .cancelled]
    }
}

// MARK: Doubles and decorators

private final class ScriptedCameraAdapter: CameraAdapter {
    private struct State {
        var permission: CameraPermission
        var answers: [Result<Photo, CameraError>]
        var captures: [PhotoSettings] = []
    }

    private let state: Mutex<State>
    private let decision: CameraPermission

    init(
        _ answers: [Result<Photo, CameraError>] = [],
        permission: CameraPermission = .granted,
        decision: CameraPermission = .granted
    ) {
        state = Mutex(State(permission: permission, answers: answers))
        self.decision = decision
    }

    var captures: [PhotoSettings] { state.withLock { $0.captures } }

    func permission() async -> CameraPermission { state.withLock { $0.permission } }

    func requestPermission() async throws(CameraError) -> CameraPermission {
        state.withLock { state in
            if state.permission == .notDetermined { state.permission = decision }
            return state.permission
        }
    }

    func capture(_ settings: PhotoSettings) async throws(CameraError) -> Photo {
        guard !Task.isCancelled else { throw CameraError(.cancelled, "The call was cancelled.") }
        let answer = state.withLock { state -> Result<Photo, CameraError> in
            guard state.permission == .granted else {
                return .failure(CameraError(.permissionDenied, "There is no permission."))
            }
            state.captures.append(settings)
            guard !state.answers.isEmpty else { return .success(Photo(jpeg: Data([0xFF, 0xD8]))) }
            return state.answers.removeFirst()
        }
        return try answer.get()
    }
}

private struct ObservedCameraAdapter<Upstream: CameraAdapter>: CameraAdapter {
    let upstream: Upstream
    let observer: @Sendable (CameraError.Code?) -> Void

    func permission() async -> CameraPermission { await upstream.permission() }

    func requestPermission() async throws(CameraError) -> CameraPermission {
        try await upstream.requestPermission()
    }

    func capture(_ settings: PhotoSettings) async throws(CameraError) -> Photo {
        do throws(CameraError) {
            let photo = try await upstream.capture(settings)
            observer(nil)
            return photo
        } catch {
            observer(error.code)
            throw error
        }
    }
}

extension CameraAdapter {
    fileprivate func observed(
        by observer: @escaping @Sendable (CameraError.Code?) -> Void
    ) -> ObservedCameraAdapter<Self> {
        ObservedCameraAdapter(upstream: self, observer: observer)
    }
}

// MARK: Checks

private struct CameraAdapterCheck: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let permission: CameraPermission
    let run: @Sendable (any CameraAdapter) async throws -> Void

    static let all = [
        Self(testDescription: "takes a photo", permission: .granted) { camera in
            let photo = try await camera.capture(PhotoSettings())
            #expect(!photo.jpeg.isEmpty)
        },
        Self(testDescription: "takes nothing without permission", permission: .denied) { camera in
            let error = await #expect(throws: CameraError.self) {
                try await camera.capture(PhotoSettings())
            }
            #expect(error?.code == .permissionDenied)
        },
        Self(testDescription: "keeps a decision", permission: .denied) { camera in
            let decision = try await camera.requestPermission()
            let permission = await camera.permission()
            #expect(decision == .denied && permission == .denied)
        },
        Self(testDescription: "takes nothing once cancelled", permission: .granted) { camera in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await camera.capture(PhotoSettings())
            }
            let error = await #expect(throws: CameraError.self) { try await task.value }
            #expect(error?.isCancellation == true)
        },
    ]
}

// MARK: The dependency

private enum CameraDependency: DependencyKey {
    static var liveValue: CameraService {
        CameraService(ScriptedCameraAdapter(permission: .denied))
    }
    static var testValue: CameraService { CameraService(ScriptedCameraAdapter()) }
    static var previewValue: CameraService { testValue }
}

extension DependencyValues {
    fileprivate var camera: CameraService {
        get { self[CameraDependency.self] }
        set { self[CameraDependency.self] = newValue }
    }
}

@Suite("Guide: a device capability of one's own")
struct GuideCameraExamples {
    @Test(arguments: CameraAdapterCheck.all)
    private func keepsThePromise(_ check: CameraAdapterCheck) async throws {
        try await check.run(ScriptedCameraAdapter(permission: check.permission))
    }

    @Test(arguments: CameraAdapterCheck.all)
    private func keepsThePromiseObserved(_ check: CameraAdapterCheck) async throws {
        try await check.run(ScriptedCameraAdapter(permission: check.permission).observed { _ in })
    }

    @Test("The front asks once, and a refusal takes no photo")
    func permission() async throws {
        let asked = ScriptedCameraAdapter(permission: .notDetermined)
        _ = try await CameraService(asked).photo(PhotoSettings(usesFlash: true))
        #expect(asked.captures == [PhotoSettings(usesFlash: true)])
        let refused = ScriptedCameraAdapter(permission: .notDetermined, decision: .denied)
        let error = await #expect(throws: CameraError.self) {
            try await CameraService(refused).photo()
        }
        #expect(error?.code == .permissionDenied && refused.captures.isEmpty)
    }

    @Test("A photo goes into the files of the app, and every code has advice")
    func photo() async throws {
        let camera = CameraService(ScriptedCameraAdapter([.success(Photo(jpeg: Data([1, 2, 3])))]))
        let files = FileStore(InMemoryFileStoreAdapter())
        try await withDependencies {
            $0.camera = camera
            $0.files = files
        } operation: {
            @Dependency(\.camera) var camera
            @Dependency(\.files) var files
            let photo = try await camera.photo()
            try await files.write(photo.jpeg, to: "photos/1.jpg")
        }
        #expect(try await files.read("photos/1.jpg") == Data([1, 2, 3]))
        for code in CameraError.Code.known { #expect(!code.advice.isEmpty) }
    }

    @Test("The observer receives each outcome, and no picture")
    func observed() async throws {
        let told = Mutex<[CameraError.Code?]>([])
        let broken = CameraError(.unavailable, "Another app uses the camera.")
        let adapter = ScriptedCameraAdapter([.success(Photo(jpeg: Data([1]))), .failure(broken)])
            .observed { code in told.withLock { $0.append(code) } }
        let camera = CameraService(adapter)
        _ = try await camera.photo()
        await #expect(throws: CameraError.self) { try await camera.photo() }
        #expect(told.withLock { $0 } == [nil, .unavailable])
    }
}
