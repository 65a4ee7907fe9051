import KeelHTTPTransfers

/// Examples from the documentation; compiled but not run.
private enum CommentExamples {
    static func background(_ download: ResumableDownload) async throws {
        let background = BackgroundTransferSession("org.example.films")
        try await download.run(in: background)
    }

    /// A stand-in for UIKit.
    final class UIApplication {}

    @MainActor
    final class AppDelegate {
        let background = BackgroundTransferSession("org.example.films")

        func application(
            _ application: UIApplication,
            handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            background.onEventsFinished { completionHandler() }
        }
    }
}
