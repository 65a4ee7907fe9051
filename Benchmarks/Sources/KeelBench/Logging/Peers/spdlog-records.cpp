// Logs records with spdlog and prints the microseconds per record.
//
//     spdlog-records FILE COUNT WARM-UP
//
// It uses the thread-safe rotating sink with the size limit of Keel's files, and flushes each record,
// so that it survives the process like Keel's. The line format is spdlog's.

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

static void log(spdlog::logger &logger, const std::string &restaurant, int number) {
    logger.info("order placed items={} order={} restaurant={}", number % 8, 100000 + number,
                restaurant);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const int records = std::atoi(arguments[2]);
    const int warm_up = std::atoi(arguments[3]);
    const std::string restaurant = "Trattoria Bella Vista";
    auto logger = spdlog::rotating_logger_mt("app", arguments[1], 10 << 20, 10);
    logger->flush_on(spdlog::level::trace);
    for (int number = 0; number < warm_up; number++) log(*logger, restaurant, number);
    const auto start = std::chrono::steady_clock::now();
    for (int number = 0; number < records; number++) log(*logger, restaurant, warm_up + number);
    const std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    std::printf("%.6f\n", time.count() / records);
    return 0;
}
